import { Injectable } from '@nestjs/common';

/** How long the events of the log are kept. The option `webhooks.keep` sets it before the application has started. */
@Injectable()
export class EventRetention {
  /** How long events are kept, in milliseconds. Default 30 days. */
  keepMs = 2_592_000_000;
}
