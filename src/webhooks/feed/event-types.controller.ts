import { Get } from '@nestjs/common';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { once } from '../../common/concurrency/once.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { eventTypeViews } from './event-type-views.js';
import type { EventTypes } from './feed.api.js';

const TYPES = once((): EventTypes => ({ items: eventTypeViews() }));

/** The route of the types of events with their JSON Schemas. Routers must try it before the routes of single endpoints. */
@MessagingController()
export class EventTypesController {
  @Get('webhooks/types')
  @Needs('events.read')
  types(): EventTypes {
    return TYPES();
  }
}
