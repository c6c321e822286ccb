import type { DynamicModule, FactoryProvider, ModuleMetadata, Type } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import type { ControllerDescription } from '../openapi/controller-description.js';
import { mountDescribed } from '../openapi/described-controllers.js';
import type { StoreClass } from '../storage/engine/database.js';
import { StartedStorage } from '../storage/messaging-storage.js';
import type { SchemaGroup } from '../storage/schema/versions.js';
import { configured } from './configured-module.js';
import { MountCheck } from './mount-check.js';
import type { MountPoint } from './mount-point.js';

/**
 * The parts that a capability (SMS, one-time passcodes, a messaging-app channel, the sandbox) adds to an application.
 */
export interface Capability extends Pick<ModuleMetadata, 'imports' | 'exports'> {
  /** Stores that its services inject, each by its class. They run on the application's storage. */
  readonly stores?: readonly StoreClass[];
  /**
   * Tables that `SCHEMA` does not list, because the capability is not in the package: the one in
   * `test/support/postcards`. The storage creates them when it starts.
   */
  readonly tables?: readonly SchemaGroup[];
  /** Its controllers, each with its part of the API description. They are mounted below the path of the module. */
  readonly controllers?: readonly ControllerDescription[];
  /** Its settings, its services, its channel, its purges (`providePurge`), and its limit on lists (`provideRecipientLimit`). */
  readonly providers?: ModuleMetadata['providers'];
}

/** Marks a module as one of ours; the value is its capability. */
export abstract class MountedCapability implements Capability {
  abstract readonly tables: readonly SchemaGroup[];
}

/**
 * Builds the module of a capability.
 * @param mount where its controllers are mounted, and whether they are. Use `MountPoint.of(core)` to mount them beside
 * those of the core
 * @param parts what the capability brings; the lists of all parts are joined
 */
export function capabilityModule(
  module: Type<object>,
  { path, controllers }: MountPoint,
  ...parts: readonly Capability[]
): DynamicModule {
  const stores = parts.flatMap((part) => part.stores ?? []);
  const described = controllers ? parts.flatMap((part) => part.controllers ?? []) : [];
  const mounted: MountedCapability = { tables: parts.flatMap((part) => part.tables ?? []) };
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
    exports: [...stores, ...parts.flatMap((part) => part.exports ?? [])],
  };
}

/** The capabilities that an application has mounted. The list is complete before the first provider is instantiated. */
export function mountedCapabilities(modules: ModulesContainer): readonly MountedCapability[] {
  return [...modules.values()].flatMap(({ providers }) => {
    const mounted: unknown = providers.get(MountedCapability)?.instance;
    return isMounted(mounted) ? [mounted] : [];
  });
}

function isMounted(value: unknown): value is MountedCapability {
  return typeof value === 'object' && value !== null && 'tables' in value;
}

/** Provides a store of the application's storage. */
export function storeProvider(Store: StoreClass): FactoryProvider<object> {
  return { provide: Store, useFactory: (storage: StartedStorage) => storage.store(Store), inject: [StartedStorage] };
}
