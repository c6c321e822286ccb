import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { Clock } from '../common/clock.js';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { WakeUp } from '../outbox/wake-up.js';
import { SmsTransport } from '../sms/sms-transport.js';
import { MessagingStorage } from '../storage/messaging-storage.js';

const PORTS = [MessagingStorage, SmsTransport, UserTokenVerifier, WakeUp, Clock, IdGenerator];

/** Says at start what Nest would pass over in silence. */
@Injectable()
export class GraphCheck implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {
    const cores = [...modules.values()].filter((module) => module.providers.has(GraphCheck));
    if (cores.length > 1) {
      throw new MessagingOptionsError(
        'There are two messaging cores in this application. Mount everything with one MessagingModule.forRoot({ … }), or give each module the same core: MessagingCore.forRoot({ … }).',
      );
    }
  }

  /** A port that the host provides beside our options is not the one that we use. */
  onModuleInit(): void {
    const ours = new Set(['MessagingCore', 'SmsModule', 'OtpModule', 'MessagingModule']);
    for (const module of this.modules.values()) {
      if (ours.has(module.metatype.name)) continue;
      for (const port of PORTS) {
        if (!module.providers.has(port) || this.isExported(module.exports, port)) continue;
        new Logger('Messaging').warn(
          `${module.metatype.name} provides ${port.name}, which the messaging module does not see: give it in the options of forRoot.`,
        );
      }
    }
  }

  /** A module that exports the port may be the very one that our options name. */
  private isExported(exports: ReadonlySet<unknown>, port: unknown): boolean {
    return exports.has(port);
  }
}
