import type { Provider } from '@nestjs/common';
import { MediaStore } from '../../media/media-store.js';
import { Purger } from '../../outbox/purger.js';
import { type ErasureRule, provideErasure } from '../../outbox/retention/erasure-service.js';
import { RetentionSettings } from '../../outbox/retention/retention-options.js';
import { PhoneStore } from './phone-store.js';

const AT_ONCE = 100;

/** Erases the messages that the phone of a number received, with their files. */
function phoneErasure(phones: PhoneStore, media: MediaStore): ErasureRule {
  return {
    what: 'phones',
    everywhere: async (number) => {
      let count = 0;
      for (;;) {
        const { removed, files } = await phones.remove({ number }, AT_ONCE);
        await media.remove(files);
        count += removed;
        if (removed < AT_ONCE) return { phones: count };
      }
    },
  };
}

/** Adds a rule that purges the phones' messages when texts are purged (`retention.texts`). */
function addPhonePurge(purger: Purger, { texts }: RetentionSettings, phones: PhoneStore, media: MediaStore): void {
  if (texts === undefined) return;
  const purge = async (before: number, limit: number) => {
    const { removed, files } = await phones.remove({ before }, limit);
    await media.remove(files);
    return removed;
  };
  purger.add({ what: 'messages of sandbox phones', keepMs: texts, purge });
}

/** The providers that remove messages from the sandbox's phones. The page can remove them too. */
export const PHONE_REMOVAL: readonly Provider[] = [
  provideErasure(phoneErasure, [PhoneStore, MediaStore]),
  {
    provide: Symbol('phonePurge'),
    useFactory: addPhonePurge,
    inject: [Purger, RetentionSettings, PhoneStore, MediaStore],
  },
];
