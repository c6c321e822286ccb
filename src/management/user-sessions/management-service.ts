import { Injectable } from '@nestjs/common';
import { type Author, HOST } from '../../accounts/audit/audit-entry.js';
import { hashSecret } from '../../accounts/keys/api-key.js';
import { type AccountRole, isAccountRole, isOperatorRole, type OperatorRole } from '../../accounts/keys/permissions.js';
import { isSubject } from '../../accounts/users/subject.js';
import { Clock } from '../../common/clock.js';
import { MessagingError } from '../../common/errors.js';
import { IdGenerator } from '../../common/ids.js';
import { checkAccountId, checkInput } from '../../common/inputs.js';
import { checkCallOptions } from '../../common/options.js';
import { isoOf } from '../../common/phone-numbers/iso.js';
import { MINUTE_MS } from '../../common/time.js';
import type { IdempotencyKey } from '../../outbox/accept/send.js';
import { Idempotency, type IdempotentRequest } from '../../outbox/idempotency.js';
import type { Acceptance } from '../../outbox/outbox.js';
import { newLinkSecret } from './link-secret.js';
import type { LinkView } from './user-session.api.js';
import { UserSessionDirectory } from './user-session-directory.js';
import { type UserLink, UserSessionStore } from './user-session-store.js';

/** The user for whom a link is made. */
export interface LinkDraft {
  /** The account. Leave it out for the roles of the operator. */
  readonly account?: string | null | undefined;
  readonly role: AccountRole | OperatorRole;
  /** The user's name in the audit log: 1 to 128 characters. Default: the id of the link. */
  readonly subject?: string | null | undefined;
  /** How many minutes the link is valid, 1 to 1440. Default 10. */
  readonly minutes?: number | null | undefined;
}

/** A one-time link. */
export interface OneTimeLink {
  /** The secret that `POST /session/exchange` accepts as `token`, once. It cannot be read again. */
  readonly secret: string;
  /** The fragment `#link=<secret>`. Append it to the address of a page that exchanges it, such as the dashboard. */
  readonly fragment: string;
  readonly expiresAt: Date;
}

/** The user whose sessions are ended. */
export interface EndedUser {
  readonly subject: string;
  /** Only the sessions for this account. */
  readonly account?: string | null | undefined;
}

/** Options of {@link ManagementService}. */
export interface LinkOptions {
  /** Who makes the change, for the audit log. Default: the host. */
  readonly by?: Author | undefined;
}

const DEFAULT_MINUTES = 10;
const MAX_MINUTES = 1440;

/** How many sessions one transaction ends. */
const ENDED_AT_ONCE = 100;

/**
 * Lets people in by one-time links. It is for hosts without their own users, and for the first user.
 *
 * @example
 * ```ts
 * const { fragment } = await management.link({ account: 'shop', role: 'admin' });
 * console.log(`https://desk.example.com/dashboard/${fragment}`);
 * ```
 */
@Injectable()
export class ManagementService {
  constructor(
    private readonly store: UserSessionStore,
    private readonly sessions: UserSessionDirectory,
    private readonly idempotency: Idempotency,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
  ) {}

  /**
   * Makes a link that signs in once. Only a hash of its secret is stored.
   * @throws MessagingError `error.field_invalid` for an unknown role, or an account that does not fit the role,
   * `error.field_missing`, `error.field_not_integer`, `error.account_not_found`, also for a closed account
   */
  async link(draft: LinkDraft, options: LinkOptions = {}): Promise<OneTimeLink> {
    const { by = HOST } = checkCallOptions('a link', options, 'by');
    const { link, secret } = this.newLink(draft);
    await this.store.addLink(link, by, {});
    return { secret, fragment: fragmentOf(secret), expiresAt: new Date(link.expiresAt) };
  }

  /**
   * Ends the sessions of a user, for example because he has left or because his role has changed. Their access tokens and streams
   * end on this instance at once, and on other instances when they are notified, at most five seconds later. His unused links
   * become invalid too.
   *
   * @param user the user's subject, and an account if only the sessions for this account are meant
   * @returns how many sessions were ended
   */
  async endSessions(user: EndedUser, options: LinkOptions = {}): Promise<number> {
    const { by = HOST } = checkCallOptions('an end of sessions', options, 'by');
    checkInput(user);
    const { subject, account } = user;
    if (!isSubject(subject)) throw new MessagingError('error.field_invalid', { field: 'subject' });
    if (account != null) checkAccountId(account);
    const owner = { subject, accountId: account ?? undefined };
    for (let ended = 0; ; ) {
      const ids = await this.store.endOf(owner, this.clock.now(), by, ENDED_AT_ONCE);
      for (const id of ids) this.sessions.forget(id);
      ended += ids.length;
      if (ids.length < ENDED_AT_ONCE) return ended;
    }
  }

  /**
   * Makes the answer of `POST /manage/links`. A replay has no secret.
   * @throws MessagingError the errors of `link`, and `error.idempotency_mismatch`, `error.idempotency_running`
   * @internal
   */
  async requestLink(
    draft: LinkDraft,
    { by, owner, once }: { readonly by: Author; readonly owner: string; readonly once: IdempotentRequest | undefined },
  ): Promise<Acceptance> {
    let made: LinkView | undefined;
    const { reply, replayed } = await this.idempotency.run(
      owner,
      'manage/links',
      once,
      async (key?: IdempotencyKey) => {
        const { link, secret } = this.newLink(draft);
        const kept = { url_fragment: null, expires_at: isoOf(link.expiresAt) };
        made = { ...kept, url_fragment: fragmentOf(secret) };
        return this.store.addLink(link, by, kept, key);
      },
    );
    return replayed || made === undefined ? { reply, replayed } : { reply: made, replayed };
  }

  /** @throws MessagingError */
  private newLink(draft: LinkDraft): { readonly link: UserLink; readonly secret: string } {
    checkInput(draft);
    const id = this.ids.next();
    const secret = newLinkSecret(this.ids);
    const createdAt = this.clock.now();
    const expiresAt = createdAt + minutesOf(draft.minutes) * MINUTE_MS;
    const subject = draft.subject ?? `link:${id}`;
    if (!isSubject(subject)) throw new MessagingError('error.field_invalid', { field: 'subject' });
    return { link: { ...rightsOf(draft), id, hash: hashSecret(secret), subject, createdAt, expiresAt }, secret };
  }
}

function fragmentOf(secret: string): string {
  return `#link=${secret}`;
}

function rightsOf({ account, role }: LinkDraft): Pick<UserLink, 'accountId' | 'role'> {
  if (isOperatorRole(role)) {
    if (account != null) throw new MessagingError('error.field_invalid', { field: 'account' });
    return { accountId: undefined, role };
  }
  if (!isAccountRole(role)) throw new MessagingError('error.field_invalid', { field: 'role' });
  if (account == null) throw new MessagingError('error.field_missing', { field: 'account' });
  checkAccountId(account);
  return { accountId: account, role };
}

function minutesOf(minutes: number | null | undefined): number {
  const given = minutes ?? DEFAULT_MINUTES;
  if (Number.isInteger(given) && given >= 1 && given <= MAX_MINUTES) return given;
  throw new MessagingError('error.field_not_integer', { field: 'minutes', min: 1, max: MAX_MINUTES });
}
