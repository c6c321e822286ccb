import { Injectable } from '@nestjs/common';

/** The settings with which a process looks after campaigns. */
@Injectable()
export class CampaignRunSettings {
  /** How long a lease on a campaign lasts without renewal, in milliseconds. After a crash, another process waits so long. */
  readonly leaseMs: number = 10_000;
  /** The most recipients that become one SMS. */
  readonly slice: number = 1000;
  /**
   * How many SMS of a campaign may wait for the carriers. It is enough to keep them busy, and few enough that a pause or a
   * cancellation takes effect soon.
   */
  readonly maxWaiting: number = 10_000;
}
