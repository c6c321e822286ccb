import { Injectable, Optional } from '@nestjs/common';
import { isSignatureName } from '../../accounts/signatures/signature-name.js';
import { MessagingError } from '../../common/errors.js';
import { isId } from '../../common/ids.js';
import { checkNumber } from '../../common/inputs.js';
import { cursorOf } from '../../common/listing/list-query.js';
import { type OptOutCallOptions, OptOutService } from '../../sms/opt-out/opt-out-service.js';
import { type ListQuery, pageOf } from '../list-query.js';
import { type OptOutPage } from './optout.api.js';
import { optOutView } from './optout-view.js';

/** The filter and page of a listing of opt-outs. */
export interface OptOutListQuery extends ListQuery {
  readonly signature?: string | undefined;
  /** E.164 digits without the plus sign. */
  readonly number?: string | undefined;
}

/** Manages the suppression list of an account, or of all accounts. In an application without SMS it is empty. */
@Injectable()
export class AccountOptOuts {
  constructor(@Optional() private readonly optOuts?: OptOutService) {}

  /**
   * Lists entries, newest first.
   * @param accountId undefined: the entries that apply to all accounts
   * @throws MessagingError `error.invalid_cursor`, also if the entry of the cursor was removed. Then begin again, so that you
   * miss no entry. `error.invalid_number`, `error.signature_format`, `error.field_invalid`
   */
  async list(accountId: string | undefined, query: OptOutListQuery = {}): Promise<OptOutPage> {
    const { signature, number } = query;
    const page = pageOf(query, isId);
    if (signature !== undefined) checkSignature(signature);
    if (number !== undefined) checkNumber(number);
    const found = await this.optOuts?.list({ ...page, accountId, signature, number });
    return { items: found?.items.map(optOutView) ?? [], next_cursor: cursorOf(found?.next) };
  }

  /**
   * Adds numbers and returns how many were added.
   * @throws MessagingError `error.signature_format`, and the errors of `OptOutService.add`
   */
  async add(
    accountId: string | undefined,
    { signature, numbers }: { readonly signature: string; readonly numbers: readonly string[] },
    options: OptOutCallOptions = {},
  ): Promise<number> {
    checkSignature(signature);
    return (await this.optOuts?.add({ accountId, signature }, numbers, options)) ?? 0;
  }

  /** @throws MessagingError `error.optout_not_found` */
  async remove(accountId: string | undefined, id: string, options: OptOutCallOptions = {}): Promise<void> {
    if (!this.optOuts) throw new MessagingError('error.optout_not_found');
    await this.optOuts.removeEntry(id, accountId, options);
  }
}

function checkSignature(signature: string): void {
  if (!isSignatureName(signature)) throw new MessagingError('error.signature_format');
}
