import type { DynamicModule, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { ControllerDescription } from '../openapi/controller-description.js';
import { mountDescribed } from '../openapi/described-controllers.js';
import { configured } from './configured-module.js';
import { StartedStorage, type StoreDefinition } from './messaging-storage.js';
import { MountCheck } from './mount-check.js';
import type { MountPoint } from './mount-point.js';

/** What a capability (SMS, one-time passcodes, a messaging-app channel, the sandbox) brings to an application. */
export interface Capability extends Pick<ModuleMetadata, 'imports' | 'exports'> {
  /** Stores that its services inject, from the application's storage. */
  readonly stores?: readonly StoreDefinition[];
  /** Its controllers, each with its part of the API description; mounted below the path of the module. */
  readonly controllers?: readonly ControllerDescription[];
  /** Its settings, its services, its channel, its purges (`providePurge`), and its limit on lists (`provideRecipientLimit`). */
  readonly providers?: ModuleMetadata['providers'];
}

/** Marks a module as one of ours; the value is its capability. */
export abstract class MountedCapability implements Capability {
  abstract readonly stores: readonly StoreDefinition[];
}

/**
 * Builds the module of a capability.
 * @param mount where its controllers are mounted, and whether they are; `MountPoint.of(core)` for those of the core
 * @param parts what it brings; lists are joined
 */
export function capabilityModule(
  module: Type<object>,
  { path, controllers }: MountPoint,
  ...parts: readonly Capability[]
): DynamicModule {
  const stores = parts.flatMap((part) => part.stores ?? []);
  const described = controllers ? parts.flatMap((part) => part.controllers ?? []) : [];
  const mounted: MountedCapability = { stores };
  return {
    module,
    global: true,
    imports: parts.flatMap((part) => part.imports ?? []),
    controllers: described.map((description) => mountDescribed(description, path)),
    providers: [
      ...configured(module),
      MountCheck,
      { provide: MountedCapability, useValue: mounted },
      ...stores.map(storeProvider),
      ...parts.flatMap((part) => part.providers ?? []),
    ],
    exports: [...stores.map(({ port }) => port), ...parts.flatMap((part) => part.exports ?? [])],
  };
}

/** The capabilities that an application has mounted; complete before the first provider is instantiated. */
export function mountedCapabilities(modules: ModulesContainer): readonly MountedCapability[] {
  return [...modules.values()].flatMap(({ providers }) => {
    const mounted: unknown = providers.get(MountedCapability)?.instance;
    return isMounted(mounted) ? [mounted] : [];
  });
}

function isMounted(value: unknown): value is MountedCapability {
  return typeof value === 'object' && value !== null && 'stores' in value;
}

/** Provides a store of the application's storage. */
export function storeProvider({ port }: StoreDefinition): FactoryProvider<object> {
  return { provide: port, useFactory: (storage: StartedStorage) => storage.store(port), inject: [StartedStorage] };
}
