import { Injectable } from '@nestjs/common';
import { parseApiKey } from '../../accounts/api-key.js';
import { type Answer, Authenticator, type Caller, type CredentialHeaders } from '../../accounts/authenticator.js';
import { Clock } from '../../common/clock.js';

/**
 * How often a credential is looked at again, in milliseconds. A key comes from a cache that is believed for four seconds, so
 * its end counts within five; a user token is asked for at the host's verifier.
 */
const KEY_MS = 1_000;
const TOKEN_MS = 4_000;

/** Ends what a caller is given for long when the credential loses its right meanwhile. */
@Injectable()
export class CallerWatch {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly clock: Clock,
  ) {}

  /**
   * Calls `lost` once when the credential is no longer the caller's: revoked or expired. A caller whom the host's own guard has
   * admitted has none to look at.
   *
   * @param signal ends the watch
   */
  watch(caller: Caller, headers: CredentialHeaders, signal: AbortSignal, lost: () => void): void {
    const intervalMs = caller.via === 'user-token' ? TOKEN_MS : KEY_MS;
    // Its own key may lose its right before the first look.
    let admitted = isOwnKey(caller, headers);
    let cancel = () => {};
    const look = async (): Promise<void> => {
      const answer = await this.answer(headers);
      if (signal.aborted) return;
      const isHis = answer?.kind === 'caller' && answer.caller.accountId === caller.accountId;
      admitted ||= isHis;
      if (answer !== undefined && !isHis) {
        if (admitted) lost();
        return;
      }
      cancel = this.clock.after(intervalMs, () => void look());
    };
    signal.addEventListener('abort', () => cancel(), { once: true });
    void look();
  }

  /** Undefined while it cannot be known: the storage or the verifier does not answer. */
  private async answer(headers: CredentialHeaders): Promise<Answer | undefined> {
    try {
      return await this.authenticator.authenticate(headers);
    } catch {
      return undefined;
    }
  }
}

/** Whether the caller was admitted by the key of the header, not by the host's own guard. */
function isOwnKey({ keyId }: Caller, { 'x-api-key': header }: CredentialHeaders): boolean {
  return keyId !== undefined && typeof header === 'string' && parseApiKey(header)?.id === keyId;
}
