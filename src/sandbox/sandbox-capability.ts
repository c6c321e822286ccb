import type { Capability } from '../core/capability.js';
import { EventStreams } from '../http/event-streams.js';
import { sandboxOpenapi, sandboxScanOpenapi } from './sandbox.openapi.js';
import { SandboxFiles } from './sandbox-files.js';
import { SandboxLive } from './sandbox-live.js';
import { SandboxPhones } from './sandbox-phones.js';

/** The sandbox's page and routes, beside `SandboxPage` and `SandboxHosts`, which depend on the options. */
export const SANDBOX_CAPABILITY: Capability = {
  imports: [SandboxPhones],
  controllers: [sandboxOpenapi, sandboxScanOpenapi],
  providers: [EventStreams, SandboxLive, SandboxFiles],
};
