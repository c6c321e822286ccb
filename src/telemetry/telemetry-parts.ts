import { type CanActivate, type FactoryProvider, type Provider, type Type, UseGuards } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { Notifier } from '../common/notifier.js';
import { SafeTelemetry } from '../common/telemetry/safe-telemetry.js';
import { STARTED_STORAGE } from '../core/storage-lifecycle.js';
import type { TelemetryRoute } from '../core/telemetry-source.js';
import { MessagingEvents } from '../events/messaging-events.js';
import { mountDescribed } from '../openapi/described-controllers.js';
import { Outbox } from '../outbox/outbox.js';
import { OutboxStore } from '../outbox/outbox-store.js';
import type { MessagingStorage } from '../storage/messaging-storage.js';
import { Gauges } from './gauges.js';
import { Instruments } from './instruments.js';
import { measuredStorage } from './measured-storage.js';
import { MetricsController } from './metrics.controller.js';
import { metricsOpenapi } from './metrics.openapi.js';
import { MetricsAccess } from './metrics-access.js';
import { ObservedOutbox } from './observed-outbox.js';
import { LedgerFindings, storeProbes } from './store-probes.js';
import { TelemetryHooks } from './telemetry-hooks.js';

/** The started storage. It is measured if there is telemetry. */
const STORAGE: FactoryProvider<MessagingStorage> = {
  provide: STARTED_STORAGE.provide,
  useFactory: async (
    instruments: Instruments,
    telemetry: SafeTelemetry,
    books: LedgerFindings,
    clock: Clock,
    ...injected: readonly unknown[]
  ) => {
    const storage = await STARTED_STORAGE.useFactory(...injected);
    return measuredStorage(storage, instruments, clock, storeProbes(instruments, telemetry, clock, books));
  },
  inject: [Instruments, SafeTelemetry, LedgerFindings, Clock, ...(STARTED_STORAGE.inject ?? [])],
};

const OUTBOX: FactoryProvider<Outbox> = {
  provide: Outbox,
  useFactory: (
    store: OutboxStore,
    notifier: Notifier,
    events: MessagingEvents,
    telemetry: SafeTelemetry,
    instruments: Instruments,
    clock: Clock,
  ) =>
    telemetry.isOn
      ? new ObservedOutbox(store, notifier, events, telemetry, instruments, clock)
      : new Outbox(store, notifier, events),
  inject: [OutboxStore, Notifier, MessagingEvents, SafeTelemetry, Instruments, Clock],
};

/** The telemetry providers of the core. They include the storage and the outbox, which are observed if there is telemetry. */
export const TELEMETRY: Provider[] = [
  SafeTelemetry,
  Instruments,
  LedgerFindings,
  TelemetryHooks,
  Gauges,
  STORAGE,
  OUTBOX,
];

/**
 * The route of metrics, if the host's options ask for one.
 * @throws MessagingOptionsError if nothing protects it
 */
export function metricsRoute(
  route: TelemetryRoute | undefined,
  path: string,
): { readonly controllers: Type<object>[]; readonly providers: Provider[] } {
  if (route === undefined) return { controllers: [], providers: [] };
  const access = MetricsAccess.of(route);
  const controller = route.guard === undefined ? MetricsController : guarded(route.guard);
  const mounted = mountDescribed({ ...metricsOpenapi, controller }, path);
  return { controllers: [mounted], providers: [{ provide: MetricsAccess, useValue: access }] };
}

/** Makes a class with the guard, because a mounted controller has only the guards of its base class. */
function guarded(guard: Type<CanActivate>): Type<MetricsController> {
  class Guarded extends MetricsController {}
  Object.defineProperty(Guarded, 'name', { value: MetricsController.name });
  UseGuards(guard)(Guarded);
  return Guarded;
}
