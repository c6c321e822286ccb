import type { PageRequest } from '../../common/listing/page.js';
import type { AUTHOR_KINDS, AuditAction } from './audit.api.js';

/** Who makes a change, and from where. */
export interface Author {
  readonly kind: (typeof AUTHOR_KINDS)[number];
  /** The subject of a user, or the public part of a key; undefined for the host. */
  readonly id?: string | undefined;
  /** The client's address according to the framework (`req.ip`). */
  readonly address?: string | undefined;
}

/** The author of changes for which nobody else is named. */
export const HOST: Author = { kind: 'host' };

/** A change, for the audit log. It contains no secret, no code, and no text of a message. */
export interface AuditEntry {
  /** The account that was changed; undefined: none in particular. */
  readonly accountId: string | undefined;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly by: Author;
  readonly action: AuditAction;
  /** What was changed: the id of a key or an endpoint, a name, a number. */
  readonly target: string;
  /** The changed fields as they were before; undefined if the change made something new. */
  readonly before?: AuditFields | undefined;
  readonly after?: AuditFields | undefined;
}

/** The fields of what was changed, before or after the change. */
export type AuditFields = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

/** An entry of the log. */
export interface StoredAuditEntry extends AuditEntry {
  readonly id: string;
}

/** The filter of a listing. */
export interface AuditQuery extends PageRequest {
  /** Only entries of this account. Undefined: entries of all accounts, and those of no account. */
  readonly accountId?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Only entries at this time or later, in milliseconds since the epoch. */
  readonly since?: number | undefined;
  /** Only entries before this time, in milliseconds since the epoch. */
  readonly until?: number | undefined;
}
