import { Injectable } from '@nestjs/common';
import { Clock } from '../common/clock.js';
import { maskNumber } from '../common/phone-numbers/phone-number.js';
import { AuditLog } from './audit/audit.js';
import { type Author } from './audit/audit-entry.js';
import type { Caller } from './keys/authenticator.js';

/**
 * How much of texts and numbers a caller sees: an account all of its own, an operator masked ones. Only the role `operator`
 * may read one message, and then the audit log says so.
 */
@Injectable()
export class TextAccess {
  constructor(
    private readonly log: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** A listing as the caller sees it. */
  many<T extends object>({ user }: Caller, view: T): T {
    return user?.operator === undefined ? view : masked(view);
  }

  /**
   * One message as the caller sees it.
   * @param target its id
   * @throws StorageUnavailableError where the reading cannot be recorded
   */
  async one<T extends object>({ user, accountId }: Caller, by: Author, target: string, view: T): Promise<T> {
    if (user?.operator === undefined) return view;
    if (user.operator !== 'operator') return masked(view);
    await this.log.record({ accountId, at: this.clock.now(), by, action: 'text.read', target });
    return view;
  }

  /**
   * Before a file that somebody sent is given.
   * @throws StorageUnavailableError where the reading cannot be recorded
   */
  async file(caller: Caller, by: Author, target: string): Promise<void> {
    await this.one(caller, by, target, {});
  }
}

/** The fields of views that hold what somebody wrote, and those that hold numbers. */
const TEXTS: ReadonlySet<string> = new Set(['content', 'text', 'body', 'caption', 'fileName', 'file_name']);
const NUMBERS: ReadonlySet<string> = new Set(['number', 'from', 'to']);

/** A copy of a view without what its texts and numbers say. */
function masked<T extends object>(view: T): T {
  // Texts and numbers stay strings, so that it has the same type.
  return maskedValue(view) as T;
}

function maskedValue(value: unknown, name = ''): unknown {
  if (typeof value === 'string') {
    if (TEXTS.has(name)) return `••• (${[...value].length})`;
    return NUMBERS.has(name) && /^\d+$/.test(value) ? maskNumber(value) : value;
  }
  if (Array.isArray(value)) return value.map((each) => maskedValue(each, name));
  if (typeof value !== 'object' || value === null) return value;
  // What needs attention has targets of several kinds.
  const isNumber = (field: string) => field === 'target' && 'kind' in value && value.kind === 'number_lost';
  return Object.fromEntries(
    Object.entries(value).map(([field, each]) => [field, maskedValue(each, isNumber(field) ? 'number' : field)]),
  );
}
