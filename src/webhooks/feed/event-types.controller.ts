import { Get } from '@nestjs/common';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { once } from '../../common/concurrency/once.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { type EventTypeView, eventTypeViews } from '../event-schemas.js';

/** Every type of event. */
interface EventTypeList {
  readonly items: readonly EventTypeView[];
}

const TYPES = once((): EventTypeList => ({ items: eventTypeViews() }));

/** The types of events with their JSON Schemas. Routers must try it before the routes of single endpoints. */
@MessagingController()
export class EventTypesController {
  @Get('webhooks/types')
  @Needs('events.read')
  types(): EventTypeList {
    return TYPES();
  }
}
