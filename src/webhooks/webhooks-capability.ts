import type { FactoryProvider } from '@nestjs/common';
import type { Capability } from '../core/capability.js';
import { EventRetention } from '../events/event-retention.js';
import { EventViews } from './event-view.js';
import { WebhookSettings } from './webhook-options.js';

/** Sets how long the log keeps events. */
const RETENTION: FactoryProvider<void> = {
  provide: Symbol('retention of events'),
  useFactory: (retention: EventRetention, { keepMs = retention.keepMs }: WebhookSettings) => {
    retention.keepMs = keepMs;
  },
  inject: [EventRetention, WebhookSettings],
};

/** What does not depend on the options. Routers try controllers in this order. */
export const WEBHOOKS_CAPABILITY: Capability = {
  stores: [],
  controllers: [],
  providers: [RETENTION, EventViews],
  exports: [WebhookSettings],
};
