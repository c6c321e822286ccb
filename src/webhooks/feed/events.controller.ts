import type { IncomingHttpHeaders } from 'node:http';
import { Get, Res, type StreamableFile } from '@nestjs/common';
import { AdmittedCall } from '../../accounts/admitted-call.decorator.js';
import { Caller } from '../../accounts/caller.decorator.js';
import { Needs } from '../../accounts/keys/needs.decorator.js';
import { type AdapterResponse, StreamHeaders } from '../../http/event-streams.js';
import { MessagingController } from '../../http/messaging-controller.js';
import { MessagingRoute } from '../../http/mounted-routes.js';
import { ArrivedAt, RequestHeaders, RequestSignal } from '../../http/parameters.js';
import { MessagingQuery } from '../../http/validation.js';
import { EventFeed } from './event-feed.js';
import { EventsQuery, StreamQuery } from './events.dto.js';
import type { EventFeedPage } from './feed.api.js';

/** The feed and the stream of an account's events (docs/events.md). */
@MessagingController()
export class EventsController {
  constructor(private readonly feed: EventFeed) {}

  @Get('events')
  @Needs('events.read')
  @MessagingRoute({ waits: true })
  list(
    @Caller() caller: Caller,
    @AdmittedCall() call: AdmittedCall,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingQuery() query: EventsQuery,
    @ArrivedAt() arrivedAt: number | undefined,
    @RequestSignal() signal: AbortSignal,
  ): Promise<EventFeedPage> {
    return this.feed.page({ caller, call, headers, query, arrivedAt }, signal);
  }

  @Get('events/stream')
  @Needs('events.read')
  @MessagingRoute({ deadline: false })
  @StreamHeaders()
  stream(
    @Caller() caller: Caller,
    @AdmittedCall() call: AdmittedCall,
    @RequestHeaders() headers: IncomingHttpHeaders,
    @MessagingQuery() query: StreamQuery,
    @Res({ passthrough: true }) response: AdapterResponse,
  ): Promise<StreamableFile> {
    return this.feed.stream({ caller, call, headers, query }, response);
  }
}
