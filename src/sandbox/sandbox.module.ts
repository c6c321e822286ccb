import { type DynamicModule, Module } from '@nestjs/common';
import { EventStreams } from '../http/event-streams.js';
import { HttpSettings } from '../http/http-settings.js';
import { mountController } from '../http/mount-controller.js';
import { SandboxController } from './sandbox.controller.js';
import { SandboxLive } from './sandbox-live.js';
import { resolveSandboxOptions, SandboxHosts, type SandboxOptions } from './sandbox-options.js';
import { SandboxPage } from './sandbox-page.js';
import { SandboxScanController } from './sandbox-scan.controller.js';

/**
 * Shows what the sandbox's phones received: `GET /sandbox` is a page, `GET /sandbox/phones/:number/messages` the same for
 * programs. On a loopback address it answers only to the names of this machine, and to the option `hosts`. **It asks for no key and shows one-time codes to whoever can reach it**: import it while the application runs
 * on the sandbox, never in production. It needs the messaging core, which any of our other modules brings.
 */
@Module({})
export class SandboxModule {
  /** @throws MessagingOptionsError with a sentence that names the wrong option */
  static forRoot(options?: SandboxOptions): DynamicModule {
    const { path, hosts } = resolveSandboxOptions(options);
    return {
      module: SandboxModule,
      controllers: [mountController(SandboxController, path), mountController(SandboxScanController, path)],
      providers: [
        EventStreams,
        SandboxLive,
        { provide: SandboxHosts, useValue: { names: hosts } satisfies SandboxHosts },
        {
          provide: SandboxPage,
          useFactory: (settings: HttpSettings) => new SandboxPage({ path, apiPath: settings.path }),
          inject: [HttpSettings],
        },
      ],
    };
  }
}
