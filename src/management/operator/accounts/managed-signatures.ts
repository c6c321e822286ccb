import { Injectable } from '@nestjs/common';
import { SIGNATURE_STATUSES } from '../../../accounts/account.api.js';
import { AccountSettings } from '../../../accounts/account-options.js';
import type { Signature } from '../../../accounts/account-records.js';
import { SignatureService } from '../../../accounts/signatures/signature-service.js';
import { MessagingError } from '../../../common/errors.js';
import { checkAccountId, checkLimit } from '../../../common/inputs.js';
import { cursorOf, textOfCursor } from '../../../common/listing/list-query.js';
import { Idempotency } from '../../../outbox/idempotency.js';
import type { Acceptance } from '../../../outbox/outbox.js';
import type { ListQuery } from '../../list-query.js';
import { signatureView } from '../../signatures/signature-view.js';
import { type OperatorCallOptions, operatorCall } from '../operator-call.js';
import type { ManagedSignaturePage, ManagedSignatureView } from './managed-account.api.js';
import { ManagedAccountStore, type SignatureQuery } from './managed-account-store.js';

/** The filter of a listing. */
export interface SignatureListQuery extends ListQuery {
  readonly status?: string | undefined;
}

/** Manages the sender names of all accounts, for operators. */
@Injectable()
export class ManagedSignatures {
  private readonly defaults: ReadonlySet<string>;

  constructor(
    private readonly store: ManagedAccountStore,
    private readonly signatures: SignatureService,
    private readonly idempotency: Idempotency,
    settings: AccountSettings,
  ) {
    this.defaults = new Set(settings.signatures);
  }

  /**
   * Lists sender names of all accounts. Names that wait for a decision come first, the oldest of them first.
   * @throws MessagingError `error.invalid_cursor`, `error.field_invalid`
   */
  async list({ limit = 50, cursor, status }: SignatureListQuery = {}): Promise<ManagedSignaturePage> {
    checkLimit(limit);
    const known = SIGNATURE_STATUSES.find((each) => each === status);
    if (status !== undefined && known === undefined)
      throw new MessagingError('error.field_invalid', { field: 'status' });
    const { items, isLast } = await this.store.signatures({ limit, status: known, after: placeOf(cursor) });
    const last = isLast ? undefined : items.at(-1);
    const next = last && JSON.stringify([last.status, last.createdAt, last.accountId, last.name]);
    return { items: items.map((signature) => this.view(signature)), next_cursor: cursorOf(next) };
  }

  /** @throws MessagingError `error.signature_not_found` */
  verify(accountId: string, name: string, options: OperatorCallOptions = {}): Promise<Acceptance> {
    return this.decide(accountId, name, 'verify', options, (by) => this.signatures.verify(accountId, name, by));
  }

  /** @throws MessagingError `error.signature_not_found`, `error.field_invalid` */
  reject(
    accountId: string,
    name: string,
    reason?: string | null,
    options: OperatorCallOptions = {},
  ): Promise<Acceptance> {
    return this.decide(accountId, name, 'reject', options, (by) =>
      this.signatures.reject(accountId, name, reason ?? undefined, by),
    );
  }

  private decide(
    accountId: string,
    name: string,
    what: 'verify' | 'reject',
    options: OperatorCallOptions,
    work: (call: Pick<OperatorCallOptions, 'by'>) => Promise<Signature>,
  ): Promise<Acceptance> {
    const { by, once, scope } = operatorCall('a decision', options);
    checkAccountId(accountId);
    const route = `manage/accounts/${accountId}/signatures/${name}/${what}`;
    return this.idempotency.keeping(scope, route, once, async () => this.view(await work({ by })));
  }

  private view(signature: Signature): ManagedSignatureView {
    const { accountId, name } = signature;
    return { account: accountId, ...signatureView(signature), is_default: this.defaults.has(name) };
  }
}

/** @throws MessagingError `error.invalid_cursor` */
function placeOf(cursor: string | undefined): SignatureQuery['after'] {
  if (cursor === undefined) return undefined;
  return placeIn(textOfCursor(cursor, (text) => placeIn(text) !== undefined));
}

function placeIn(text: string): SignatureQuery['after'] {
  let place: unknown;
  try {
    place = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(place) || place.length !== 4) return undefined;
  const [status, createdAt, accountId, name]: readonly unknown[] = place;
  const known = SIGNATURE_STATUSES.find((each) => each === status);
  const isPlace = typeof accountId === 'string' && typeof name === 'string' && Number.isSafeInteger(createdAt);
  if (known === undefined || !isPlace || /\0/.test(accountId + name)) return undefined;
  return { status: known, createdAt: Number(createdAt), accountId, name };
}
