import { PARAMTYPES_METADATA, PROPERTY_DEPS_METADATA, SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants.js';
import type { ModulesContainer } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';
import { MsgappService } from '../msgapp/msgapp-service.js';
import { MsgappSettings } from '../msgapp/msgapp-settings.js';
import { SessionManager } from '../msgapp/session-manager.js';

type NestModule = ModulesContainer extends Map<string, infer M> ? M : never;

/** What every messaging-app channel has one of. */
const SERVICES = [MsgappService, SessionManager];

/**
 * With several messaging-app channels, Nest would give whoever injects a service of theirs by its class the one that it comes
 * across first: messages would leave from somebody else's number, at another price.
 *
 * @throws MessagingOptionsError with a sentence that names who injects what
 */
export function checkChannelInjections(modules: readonly NestModule[]): void {
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
