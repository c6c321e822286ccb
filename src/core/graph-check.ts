import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { PARAMTYPES_METADATA, PROPERTY_DEPS_METADATA, SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { UserTokenVerifier } from '../accounts/user-token-verifier.js';
import { Clock } from '../common/clock.js';
import { MessagingOptionsError } from '../common/errors.js';
import { IdGenerator } from '../common/ids.js';
import { MediaFetcher } from '../media/media-fetcher.js';
import { MsgappService } from '../msgapp/msgapp-service.js';
import { MsgappSettings } from '../msgapp/msgapp-settings.js';
import { MsgappTransport } from '../msgapp/msgapp-transport.js';
import { SessionManager } from '../msgapp/sessions/session-manager.js';
import { WorkerNotifier } from '../outbox/worker-notifier.js';
import { SmsSettings } from '../sms/sms-options.js';
import { SmsTransport } from '../sms/sms-transport.js';
import { MessagingStorage } from '../storage/messaging-storage.js';

const PORTS = [
  ...[MessagingStorage, SmsTransport, MsgappTransport, MediaFetcher],
  ...[UserTokenVerifier, WorkerNotifier, Clock, IdGenerator],
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

type NestModule = ModulesContainer extends Map<string, infer M> ? M : never;

/** What every messaging-app channel has one of. */
const SERVICES = [MsgappService, SessionManager];

/**
 * With several messaging-app channels, Nest would give whoever injects a service of theirs by its class the one that it comes
 * across first: messages would leave from somebody else's number, at another price.
 *
 * @throws MessagingOptionsError with a sentence that names who injects what
 */
function checkChannelInjections(modules: readonly NestModule[]): void {
  const channels = modules.filter(({ providers }) => providers.has(MsgappSettings));
  if (channels.length < 2) return;
  for (const module of modules) {
    if (channels.includes(module)) continue;
    for (const { metatype, inject, name } of [...module.providers.values(), ...module.controllers.values()]) {
      const wanted: unknown[] = inject ?? (metatype ? injectedInto(metatype) : []);
      const service = SERVICES.find((each) => wanted.includes(each));
      if (!service) continue;
      throw new MessagingOptionsError(
        `${String(name)} injects ${service.name}, and there are several messaging-app channels: say which with @Inject(channelToken(${service.name}, '…')).`,
      );
    }
  }
}

/** The tokens that Nest looks up for a class. */
function injectedInto(metatype: object): unknown[] {
  const types: unknown[] = [...(Reflect.getMetadata(PARAMTYPES_METADATA, metatype) ?? [])];
  const named: { index: number; param: unknown }[] = Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, metatype) ?? [];
  for (const { index, param } of named) types[index] = param;
  const properties: { type: unknown }[] = Reflect.getMetadata(PROPERTY_DEPS_METADATA, metatype) ?? [];
  return [...types, ...properties.map(({ type }) => type)];
}
