import type { FactoryProvider } from '@nestjs/common';
import { DAY_MS } from '../common/time.js';
import type { Capability } from '../core/capability.js';
import { EventRetention } from '../events/event-retention.js';
import { EventStreams } from '../http/event-streams.js';
import { providePurge } from '../outbox/purger.js';
import { CallSpans } from './calls/call-spans.js';
import { CallStore } from './calls/call-store.js';
import { EndpointCalls } from './calls/endpoint-calls.js';
import { WebhookHttp } from './calls/http/webhook-http.js';
import { CallSettings, WebhookDispatcher } from './calls/webhook-dispatcher.js';
import { CallVerifier } from './endpoints/call-verifier.js';
import { EndpointHistory } from './endpoints/endpoint-history.js';
import { EndpointSecrets } from './endpoints/endpoint-secret.js';
import { EndpointStore } from './endpoints/endpoint-store.js';
import { WebhookService } from './endpoints/webhook-service.js';
import { WebhookTargets } from './endpoints/webhook-targets.js';
import { webhooksOpenapi } from './endpoints/webhooks.openapi.js';
import { EventViews } from './event-view.js';
import { CallerWatch } from './feed/caller-watch.js';
import { EventArrivals } from './feed/event-arrivals.js';
import { EventCursors } from './feed/event-cursor.js';
import { EventFeed } from './feed/event-feed.js';
import { EventService } from './feed/event-service.js';
import { eventsOpenapi, eventTypesOpenapi } from './feed/events.openapi.js';
import { ReaderSeats } from './feed/reader-seats.js';
import { WebhookSettings } from './webhook-options.js';

/** Sets how long the log keeps events. */
const RETENTION: FactoryProvider<void> = {
  provide: Symbol('retention of events'),
  useFactory: (retention: EventRetention, { keepMs = retention.keepMs }: WebhookSettings) => {
    retention.keepMs = keepMs;
  },
  inject: [EventRetention, WebhookSettings],
};

const SECRETS: FactoryProvider<EndpointSecrets> = {
  provide: EndpointSecrets,
  useFactory: ({ keys }: WebhookSettings) => new EndpointSecrets(keys),
  inject: [WebhookSettings],
};

/** How long the records of calls are kept, in milliseconds. */
const RECORDS_MS = 7 * DAY_MS;

/** The providers that call the endpoints. */
const CALLS: NonNullable<Capability['providers']> = [
  WebhookHttp,
  CallSpans,
  CallSettings,
  WebhookDispatcher,
  EndpointCalls,
  providePurge(CallStore, (store) => ({
    what: 'records of webhook calls',
    keepMs: RECORDS_MS,
    purge: (before, limit) => store.purgeRecords(before, limit),
  })),
  providePurge(CallStore, (store) => ({
    what: 'failed webhook calls',
    purge: (_, limit) => store.purgeFailed(limit),
  })),
];

/** The part of the module that does not depend on the options. Routers try the controllers in this order. */
export const WEBHOOKS_CAPABILITY: Capability = {
  stores: [EndpointStore, CallStore],
  controllers: [eventsOpenapi, eventTypesOpenapi, webhooksOpenapi],
  providers: [
    RETENTION,
    EventViews,
    EventArrivals,
    EventCursors,
    EventService,
    ReaderSeats,
    CallerWatch,
    EventStreams,
    EventFeed,
    SECRETS,
    WebhookTargets,
    EndpointHistory,
    WebhookService,
    CallVerifier,
    ...CALLS,
  ],
  exports: [WebhookSettings, EventService, WebhookService, WebhookTargets, CallVerifier, EndpointCalls],
};
