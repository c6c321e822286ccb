import { Injectable } from '@nestjs/common';
import type { Author } from '../../accounts/audit/audit-entry.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator, isId } from '../../common/ids.js';
import { checkAccountId, checkString } from '../../common/inputs.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { Notifier, publishNotice } from '../../common/notifier.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import { Idempotency, type IdempotentRequest } from '../../outbox/idempotency.js';
import type { Acceptance } from '../../outbox/outbox.js';
import { EndpointCalls } from '../calls/endpoint-calls.js';
import type { AttemptPage, EndpointPage, EndpointView, EndpointWithSecret, PingResult } from './endpoint.api.js';
import type { Endpoint, EndpointDefinition } from './endpoint.js';
import { type AttemptListQuery, EndpointHistory, pageOf, type WebhookListQuery } from './endpoint-history.js';
import {
  changed,
  type EndpointChanges,
  type EndpointDraft,
  keepMsOf,
  NEW_DEFINITION,
  type ReplayDraft,
  webhookSignatureOf,
  windowOf,
} from './endpoint-input.js';
import { type EndpointAnswer, type EndpointKey } from './endpoint-records.js';
import { EndpointSecrets, type SecretSource } from './endpoint-secret.js';
import { EndpointStore } from './endpoint-store.js';
import { endpointView } from './endpoint-view.js';
import { WebhookTargets } from './webhook-targets.js';

/** The answer to a call of this service. */
export interface WebhookAnswer<T> {
  readonly reply: T;
  /** True: an earlier request with the same Idempotency-Key got this answer, and this request did nothing. */
  readonly replayed: boolean;
}

/** Options of the calls that change something. */
export interface WebhookCallOptions {
  /** The change is made once, no matter how often this key comes within 24 hours. */
  readonly once?: IdempotentRequest | undefined;
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

/** A kept reply, from which the service can make the answer with the secret again. */
interface KeptReply {
  readonly view: EndpointView;
  readonly source: SecretSource;
}

/**
 * Manages the endpoints that receive an account's events by HTTP. Hosts can use it without our routes. It trusts `accountId`.
 * Every method that names an endpoint throws `error.endpoint_not_found` for an endpoint of another account. Every method can
 * throw `error.storage_unavailable`.
 */
@Injectable()
export class WebhookService {
  constructor(
    private readonly store: EndpointStore,
    private readonly targets: WebhookTargets,
    private readonly secrets: EndpointSecrets,
    private readonly calls: EndpointCalls,
    private readonly history: EndpointHistory,
    private readonly idempotency: Idempotency,
    private readonly notifier: Notifier,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Makes an endpoint. It receives every event that is committed after the promise resolves. Only this answer has the endpoint's
   * secret.
   *
   * @throws MessagingError `error.webhook_url_refused`, `error.too_many_endpoints`, `error.event_type_unknown`,
   * `error.field_missing`, `error.field_invalid`, `error.field_not_string`, `error.field_not_list`, `error.field_not_integer`,
   * `error.account_not_found`, `error.idempotency_mismatch`, `error.idempotency_running`
   */
  async create(
    accountId: string,
    draft: EndpointDraft,
    options: WebhookCallOptions = {},
  ): Promise<WebhookAnswer<EndpointWithSecret>> {
    checkAccountId(accountId);
    const accepted = await this.idempotency.run(accountId, 'webhooks', options.once, async (once) => {
      const definition = changed(NEW_DEFINITION, draft);
      const signature = webhookSignatureOf(draft.signature);
      const { href: url } = await this.targets.check(urlOf(draft.url));
      const made = { ...definition, url, id: this.ids.next(), accountId, signature, versions: this.secrets.first() };
      return this.store.create({ ...made, createdAt: this.clock.now() }, answering(once), options.by);
    });
    this.notify(accountId);
    return this.withSecret(accepted);
  }

  /** Lists the endpoints of an account, newest first. @throws MessagingError `error.invalid_cursor`, `error.field_invalid` */
  async list(accountId: string, query: WebhookListQuery = {}): Promise<EndpointPage> {
    checkAccountId(accountId);
    const { items, next } = await this.store.list(accountId, pageOf(query));
    return { items: items.map(endpointView), next_cursor: cursorOf(next) };
  }

  async get(accountId: string, id: string): Promise<EndpointView> {
    return endpointView(await this.find(accountId, id));
  }

  /**
   * Changes an endpoint. Events that were called before are not called again.
   * @throws MessagingError the errors of `create`, and `error.field_invalid` for another `signature`
   */
  async update(
    accountId: string,
    id: string,
    changes: EndpointChanges,
    { by }: Pick<WebhookCallOptions, 'by'> = {},
  ): Promise<EndpointView> {
    const endpoint = await this.find(accountId, id);
    const { url } = changes;
    // The other fields are checked here, before the URL, whose check may take long, and before the lock.
    changed(endpoint, changes);
    if ('signature' in changes && changes.signature != null && changes.signature !== endpoint.signature) {
      throw new MessagingError('error.field_invalid', { field: 'signature' });
    }
    const target = url == null ? {} : { url: (await this.targets.check(urlOf(url))).href };
    // The definition may have been changed meanwhile.
    const change = (present: EndpointDefinition) => ({ ...changed(present, changes), ...target });
    return this.changed(accountId, await this.store.update(endpoint, change, this.clock.now(), by));
  }

  /** Removes an endpoint. A call that is already running may still arrive. */
  async remove(
    accountId: string,
    id: string,
    { by }: Pick<WebhookCallOptions, 'by'> = {},
  ): Promise<{ readonly success: true }> {
    if (!(await this.store.remove(keyOf(accountId, id), this.clock.now(), by))) throw notFound();
    this.notify(accountId);
    return { success: true };
  }

  /**
   * Replaces the secret. The old secret signs the calls too for `keep_hours`, 0 to 168. Default 24.
   * @throws MessagingError `error.field_not_integer`, `error.idempotency_mismatch`, `error.idempotency_running`
   */
  async rotate(
    accountId: string,
    id: string,
    { keep_hours }: { readonly keep_hours?: number | null | undefined } = {},
    options: WebhookCallOptions = {},
  ): Promise<WebhookAnswer<EndpointWithSecret>> {
    const key = keyOf(accountId, id);
    const accepted = await this.idempotency.run(accountId, `webhooks/${id}/rotate`, options.once, async (once) => {
      const keepMs = keepMsOf(keep_hours);
      const now = this.clock.now();
      const rotated = await this.store.rotate(
        key,
        (versions) => this.secrets.rotated(versions, now, keepMs),
        now,
        answering(once),
        options.by,
      );
      if (!rotated) throw notFound();
      return rotated;
    });
    this.notify(accountId);
    return this.withSecret(accepted);
  }

  /** Calls the endpoint with `test.ping`, once, also while it is disabled. */
  async test(accountId: string, id: string, options: WebhookCallOptions = {}): Promise<WebhookAnswer<PingResult>> {
    return this.once(accountId, id, 'test', options, (endpoint) => this.calls.ping(endpoint));
  }

  /**
   * Calls the events of a window again, in the order of their sequences.
   * @returns how many events are called again
   * @throws MessagingError `error.too_many_replays`, `error.event_type_unknown`, `error.field_invalid`, `error.field_not_list`,
   * `error.field_not_integer`
   */
  async replay(
    accountId: string,
    id: string,
    window: ReplayDraft = {},
    options: WebhookCallOptions = {},
  ): Promise<WebhookAnswer<{ readonly events: number }>> {
    return this.once(accountId, id, 'replay', options, async (endpoint) => ({
      events: await this.calls.replay(endpoint, windowOf(window), options.by),
    }));
  }

  /** Enables an endpoint, whatever has disabled it. It goes on with the first event that it has not received. */
  async enable(accountId: string, id: string, options: WebhookCallOptions = {}): Promise<WebhookAnswer<EndpointView>> {
    return this.once(accountId, id, 'enable', options, async (endpoint) =>
      this.changed(accountId, await this.store.enable(endpoint, this.clock.now(), options.by)),
    );
  }

  /** Disables an endpoint. It is not called until `enable`. */
  async disable(accountId: string, id: string, options: WebhookCallOptions = {}): Promise<WebhookAnswer<EndpointView>> {
    return this.once(accountId, id, 'disable', options, async (endpoint) =>
      this.changed(accountId, await this.store.disable(endpoint, this.clock.now(), options.by)),
    );
  }

  /**
   * Lists the calls of an endpoint in the last 7 days, newest first, with their bodies and responses.
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async attempts(accountId: string, id: string, query: AttemptListQuery = {}): Promise<AttemptPage> {
    return this.history.list(await this.find(accountId, id), query);
  }

  /**
   * Calls one event again, as soon as possible.
   * @throws MessagingError `error.event_not_found` if the endpoint does not receive the event, or if the event is not kept
   */
  async retry(
    accountId: string,
    id: string,
    sequence: number,
    options: WebhookCallOptions = {},
  ): Promise<WebhookAnswer<{ readonly events: number }>> {
    return this.once(accountId, id, `attempts/${sequence}/retry`, options, async (endpoint) => {
      const isSequence = Number.isSafeInteger(sequence) && sequence > 0;
      if (!isSequence || !(await this.calls.retry(endpoint, sequence, options.by)))
        throw new MessagingError('error.event_not_found');
      return { events: 1 };
    });
  }

  /** Does something that a crash may repeat, and keeps its reply under the key. */
  private async once<T extends object>(
    accountId: string,
    id: string,
    what: string,
    options: WebhookCallOptions,
    work: (endpoint: Endpoint) => Promise<T>,
  ): Promise<WebhookAnswer<T>> {
    const key = keyOf(accountId, id);
    const accepted = await this.idempotency.run(accountId, `webhooks/${key.id}/${what}`, options.once, async (once) => {
      const reply = await work(await this.find(accountId, id));
      return once ? this.store.keep(once, reply, this.clock.now()) : { reply, replayed: false };
    });
    // `work` has made the reply, and the store returns it unchanged.
    return accepted as WebhookAnswer<T>;
  }

  private async find(accountId: string, id: string): Promise<Endpoint> {
    const endpoint = await this.store.find(keyOf(accountId, id));
    if (!endpoint) throw notFound();
    return endpoint;
  }

  private changed(accountId: string, endpoint: Endpoint | undefined): EndpointView {
    if (!endpoint) throw notFound();
    this.notify(accountId);
    return endpointView(endpoint);
  }

  private withSecret({ reply, replayed }: Acceptance): WebhookAnswer<EndpointWithSecret> {
    // `answering` has made the reply.
    const { view, source } = reply as KeptReply;
    return { reply: { ...view, ...this.secrets.shown(source) }, replayed };
  }

  private notify(accountId: string): void {
    publishNotice(this.notifier, 'endpoint', accountId);
  }
}

/** Makes the kept reply. It names the new version and does not contain the secret. */
function answering(once: IdempotencyKey | undefined): EndpointAnswer {
  return {
    once,
    replyOf: (endpoint): KeptReply => {
      const { id, signature, versions } = endpoint;
      const [version] = versions;
      if (!version) throw new Error('The endpoint has no secret.');
      return { view: endpointView(endpoint), source: { id, signature, version } };
    },
  };
}

/** @throws MessagingError `error.endpoint_not_found` for a malformed id */
function keyOf(accountId: string, id: string): EndpointKey {
  checkAccountId(accountId);
  if (!isId(id)) throw notFound();
  return { accountId, id };
}

function urlOf(given: unknown): string {
  if (given == null) throw new MessagingError('error.field_missing', { field: 'url' });
  checkString('url', given);
  return given;
}

function notFound(): MessagingError {
  return new MessagingError('error.endpoint_not_found');
}
