import type { Capability } from '../core/capability.js';
import { healthDetailOpenapi } from '../health/health.openapi.js';
import { ACCOUNT_CAPABILITY } from './account-capability.js';
import { KeyService } from './keys/key-service.js';
import { keysOpenapi } from './keys/keys.openapi.js';
import { ManagementSettings } from './management-options.js';
import { OPERATOR_CAPABILITY } from './operator/operator-capability.js';
import { USER_SESSION_CAPABILITY } from './user-sessions/user-session-capability.js';

/** The parts of the module that do not depend on the options. Routers try the controllers in this order. */
export const MANAGEMENT_CAPABILITIES: readonly Capability[] = [
  { exports: [ManagementSettings] },
  USER_SESSION_CAPABILITY,
  { controllers: [keysOpenapi], providers: [KeyService], exports: [KeyService] },
  ACCOUNT_CAPABILITY,
  OPERATOR_CAPABILITY,
  { controllers: [healthDetailOpenapi] },
];
