import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { MsgappSettings } from './msgapp-settings.js';
import { SessionStore } from './session-store.js';
import { SessionVault } from './session-vault.js';

/** So many linked sessions are looked at. */
const SAMPLE = 20;

/**
 * Refuses to start with the wrong key. Sessions that cannot be opened end after a few tries, and then what is kept of them
 * is gone: one mistake in a deployment would have every number linked again.
 */
@Injectable()
export class CredentialCheck implements OnApplicationBootstrap {
  constructor(
    private readonly store: SessionStore,
    private readonly vault: SessionVault,
    private readonly settings: MsgappSettings,
  ) {}

  /** @throws MessagingOptionsError when nothing is readable of what linked sessions keep */
  async onApplicationBootstrap(): Promise<void> {
    const { channel } = this.settings;
    // Whoever holds them: past that time nobody does.
    const sessions = await this.store.free(channel, Number.MAX_SAFE_INTEGER, SAMPLE);
    const linked = sessions.filter(({ status }) => status !== 'created');
    for (const { id } of linked) if (await this.vault.canRead(id)) return;
    if (linked.length === 0) return;
    throw new MessagingOptionsError(
      `Option msgapp.credentialsKey holds no key that opens what is kept of the linked numbers of channel ${channel}. Put the one they were linked with behind it; to give them up and link them again, empty the table messaging_session_credential.`,
    );
  }
}
