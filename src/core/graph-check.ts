import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { Clock } from '../common/clock.js';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { MediaFetcher } from '../media/media-fetcher.js';
import { MsgappSettings } from '../msgapp/msgapp-settings.js';
import { MsgappTransport } from '../msgapp/msgapp-transport.js';
import { WakeUp } from '../outbox/wake-up.js';
import { SmsSettings } from '../sms/sms-options.js';
import { SmsTransport } from '../sms/sms-transport.js';
import { MessagingStorage } from '../storage/messaging-storage.js';
import { checkChannelInjections } from './channel-injections.js';

const PORTS = [
  ...[MessagingStorage, SmsTransport, MsgappTransport, MediaFetcher],
  ...[UserTokenVerifier, WakeUp, Clock, IdGenerator],
];
/** Each of our modules has one of these. */
const MARKS = [SmsSettings, MsgappSettings];

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
    const modules = [...this.modules.values()];
    const ours = modules.filter(({ providers }) => [GraphCheck, ...MARKS].some((mark) => providers.has(mark)));
    checkChannelInjections(modules);
    for (const port of PORTS) {
      const isOurOwn = ours.some(({ providers }) => providers.has(port));
      for (const module of modules) {
        if (ours.includes(module) || !module.providers.has(port)) continue;
        // Where we have none of our own, a module that exports the port is the very one that our options name.
        if (!isOurOwn && module.exports.has(port)) continue;
        new Logger('Messaging').warn(
          `${module.metatype.name} provides ${port.name}, which the messaging module does not see: give it in the options of forRoot.`,
        );
      }
    }
  }
}
