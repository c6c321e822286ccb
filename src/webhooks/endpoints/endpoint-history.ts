import { Injectable } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { checkInput, checkLimit } from '../../common/inputs.js';
import { cursorOf, textOfCursor } from '../../common/listing/list-query.js';
import { MAX_PAGE_BYTES, type PageRequest } from '../../common/listing/page.js';
import type { EventView } from '../../events/event-types.js';
import { EventViews } from '../event-view.js';
import type { AttemptPage, AttemptView } from './endpoint.api.js';
import type { Endpoint } from './endpoint.js';
import { EndpointStore } from './endpoint-store.js';
import { attemptView } from './endpoint-view.js';
import { WebhookTargets } from './webhook-targets.js';

/** The page of a listing to read. */
export interface WebhookListQuery {
  /** The maximum number of items, 1 to 1000. Default 50. */
  readonly limit?: number | undefined;
  /** The `next_cursor` of the previous page. */
  readonly cursor?: string | undefined;
}

/** The filter and page of a listing of calls. */
export interface AttemptListQuery extends WebhookListQuery {
  /** Only calls with this result: `delivered` or `failed`. */
  readonly status?: string | undefined;
}

/** The maximum number of events on a page of calls, counted over all its calls. */
const MAX_EVENTS = 1000;

/** Lists the calls of endpoints. It reads the events of each call from the log, as far as the log still has them. */
@Injectable()
export class EndpointHistory {
  constructor(
    private readonly store: EndpointStore,
    private readonly targets: WebhookTargets,
    private readonly views: EventViews,
  ) {}

  /** @throws MessagingError `error.invalid_cursor`, `error.field_invalid` */
  async list(endpoint: Endpoint, query: AttemptListQuery): Promise<AttemptPage> {
    const page = pageOf(query);
    const { items, next } = await this.store.attempts({
      ...page,
      endpointId: endpoint.id,
      accountId: endpoint.accountId,
      ok: isOk(query.status),
    });
    const isShown = !this.targets.isAllowed(new URL(endpoint.url));
    const shown: AttemptView[] = [];
    let events = 0;
    let bytes = 0;
    for (const attempt of items) {
      events += attempt.sequences.length;
      if (events > MAX_EVENTS && shown.length > 0) return { items: shown, next_cursor: cursorOf(shown.at(-1)?.id) };
      const view = attemptView(attempt, endpoint, await this.eventsOf(endpoint, attempt.sequences), isShown);
      bytes += Buffer.byteLength(JSON.stringify(view));
      if (bytes > MAX_PAGE_BYTES && shown.length > 0) return { items: shown, next_cursor: cursorOf(shown.at(-1)?.id) };
      shown.push(view);
    }
    return { items: shown, next_cursor: cursorOf(next) };
  }

  private async eventsOf({ accountId, types }: Endpoint, sequences: readonly number[]): Promise<readonly EventView[]> {
    const [first, last] = [sequences[0], sequences.at(-1)];
    if (first === undefined || last === undefined) return [];
    const called = new Set(sequences);
    const found: EventView[] = [];
    // A page of long events ends early, so several reads may be needed.
    for (let after = first - 1, left = MAX_EVENTS; after < last && left > 0; ) {
      const query = { accountId, after, upTo: last, types: types ?? undefined, limit: left };
      const { events, nextAfter } = await this.views.read(query);
      if (nextAfter <= after) break;
      found.push(...events.filter(({ sequence }) => called.has(sequence)));
      left -= events.length;
      after = nextAfter;
    }
    return found;
  }
}

/** @throws MessagingError `error.invalid_cursor`, `error.field_invalid` */
export function pageOf(query: WebhookListQuery): PageRequest {
  checkInput(query);
  const { limit = 50, cursor } = query;
  checkLimit(limit);
  return { limit, after: cursor === undefined ? undefined : textOfCursor(cursor, isId) };
}

function isOk(status: unknown): boolean | undefined {
  if (status === undefined) return undefined;
  if (status === 'delivered' || status === 'failed') return status === 'delivered';
  throw new MessagingError('error.field_invalid', { field: 'status' });
}
