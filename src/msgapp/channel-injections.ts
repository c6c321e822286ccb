import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PARAMTYPES_METADATA, PROPERTY_DEPS_METADATA, SELF_DECLARED_DEPS_METADATA } from '@nestjs/common/constants.js';
import { ModulesContainer } from '@nestjs/core';
import { MessagingOptionsError } from '../common/errors.js';
import { MsgappSettings } from './msgapp-options.js';
import { MsgappService } from './msgapp-service.js';
import { SessionManager } from './sessions/session-manager.js';

/** The services of which each messaging-app channel has its own instance. */
const SERVICES = [MsgappService, SessionManager];

/**
 * Refuses to start if there are several messaging-app channels and a class injects one of their services by its class. Nest would
 * inject the first service that it finds, and messages could leave from the wrong number, at another price.
 */
@Injectable()
export class ChannelInjections implements OnModuleInit {
  constructor(private readonly modules: ModulesContainer) {}

  /** @throws MessagingOptionsError with a sentence that names the class and the service */
  onModuleInit(): void {
    const modules = [...this.modules.values()];
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
}

/** Returns the injection tokens of a class. */
function injectedInto(metatype: object): unknown[] {
  const types: unknown[] = [...(Reflect.getMetadata(PARAMTYPES_METADATA, metatype) ?? [])];
  const named: { index: number; param: unknown }[] = Reflect.getMetadata(SELF_DECLARED_DEPS_METADATA, metatype) ?? [];
  for (const { index, param } of named) types[index] = param;
  const properties: { type: unknown }[] = Reflect.getMetadata(PROPERTY_DEPS_METADATA, metatype) ?? [];
  return [...types, ...properties.map(({ type }) => type)];
}
