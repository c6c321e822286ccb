import { Injectable } from '@nestjs/common';
import { AccountSettings } from '../../accounts/account-options.js';
import { isSignatureName } from '../../accounts/signatures/signature-name.js';
import { SignatureService } from '../../accounts/signatures/signature-service.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { type ListQuery, pageOf } from '../list-query.js';
import { type SignaturePage } from './signature.api.js';
import { defaultSignatureView, signatureView } from './signature-view.js';

/** Marks the cursor of a page that begins among the default signatures. No name begins with it. */
const DEFAULTS = ':';

/** Lists the sender names that an account may use or has asked for. `SignatureService` registers and decides. */
@Injectable()
export class AccountSignatures {
  constructor(
    private readonly signatures: SignatureService,
    private readonly settings: AccountSettings,
  ) {}

  /**
   * Lists the default signatures, then those of the account by name.
   * @throws MessagingError `error.account_not_found`, `error.invalid_cursor`, `error.field_invalid`
   */
  async list(accountId: string, query: ListQuery = {}): Promise<SignaturePage> {
    const defaults = this.settings.signatures;
    const { limit, after = `${DEFAULTS}0` } = pageOf(query, isPlace);
    const isAmongDefaults = after.startsWith(DEFAULTS);
    const from = isAmongDefaults ? Number(after.slice(DEFAULTS.length)) : defaults.length;
    const shown = defaults.slice(from, from + limit).map(defaultSignatureView);
    const left = limit - shown.length;
    // If the page is full, one more signature is read, so that the next page is not empty.
    const rest = await this.signatures.list(accountId, {
      limit: Math.max(left, 1),
      ...(isAmongDefaults ? {} : { after }),
    });
    const items = [...shown, ...rest.items.slice(0, left).map(signatureView)];
    if (left > 0) return { items, next_cursor: cursorOf(rest.next) };
    const hasMore = from + limit < defaults.length || rest.items.length > 0;
    return { items, next_cursor: hasMore ? cursorOf(`${DEFAULTS}${from + limit}`) : null };
  }
}

function isPlace(text: string): boolean {
  return isSignatureName(text) || /^:\d{1,6}$/.test(text);
}
