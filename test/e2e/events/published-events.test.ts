import { afterEach, expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import { SignatureService } from '../../../src/accounts/signatures/signature-service.js';
import { LedgerService } from '../../../src/billing/ledger-service.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EVENT_TYPES } from '../../../src/events/event-types.js';
import { MessagingEvents } from '../../../src/events/messaging-events.js';
import { OptOutService } from '../../../src/sms/opt-out/opt-out-service.js';
import { eventually } from '../../support/common/eventually.js';
import { SqliteMemory } from '../../support/databases/sqlite-memory.js';
import { heardEvents, loggedEvents, sorted } from '../../support/events/logged-events.js';
import { OtpApp, PEPPER, wrongFor } from '../../support/otp/otp-app.js';

const NUMBER = '22670000000';
const OTHER = '22670000001';
/** The tests of deliveries also test their events. */
const TYPES = EVENT_TYPES.filter((type) => !/^(message|send|session)\./.test(type));

let app: OtpApp | undefined;
afterEach(() => app?.close());

test('the process gets the same events as the log of the account, and neither contains a secret', async () => {
  const storage = new SqliteMemory();
  const wrongTries = [{ count: 1, seconds: 60 }];
  const started = await OtpApp.start('express', {
    storage,
    otp: { maxGuessChance: 1, limits: { preset: 'strict', wrongTries } },
  });
  app = started;
  const get = <T>(token: abstract new (...args: never[]) => T): T => started.app.app.get(token, { strict: false });
  const { accountId } = started.app;
  await get(EventLog).switchOn(accountId, started.clock.now());
  const heard = heardEvents(get(MessagingEvents), accountId, TYPES);

  const ledger = get(LedgerService);
  await ledger.topUp(accountId, 5, { reference: 'inv-1', note: 'Merci' });
  await ledger.topUp(accountId, 5, { reference: 'inv-1' });
  await ledger.adjust(accountId, -1);
  const inHost = (reference: string, fails: boolean) =>
    storage.dataSource.transaction(async (manager) => {
      await ledger.topUp(accountId, 1, { reference, host: { manager } });
      await get(AccountService).issueKey(accountId, { host: { manager } });
      if (fails) throw new Error('the host changes its mind');
    });
  await expect(inHost('undone', true)).rejects.toThrow('mind');
  await inHost('kept', false);

  const accounts = get(AccountService);
  await accounts.setLowBalance(accountId, 5000);
  const issued = await accounts.issueKey(accountId);
  const rotated = await accounts.rotateKey(issued.id);
  await accounts.revokeKey(rotated.id);
  await accounts.revokeKey(rotated.id);

  const signatures = get(SignatureService);
  await signatures.register(accountId, 'SHOP');
  await signatures.reject(accountId, 'SHOP', 'not theirs');
  await signatures.verify(accountId, 'SHOP');

  const optOuts = get(OptOutService);
  await optOuts.add({ accountId, signature: 'SHOP' }, [NUMBER, OTHER]);
  await optOuts.add({ accountId, signature: 'SHOP' }, [NUMBER]);
  await optOuts.add({ signature: 'INFOS' }, ['22670000009']);
  await optOuts.remove({ accountId, signature: 'SHOP' }, [NUMBER]);

  await started.send({ service: 'bank', number: '33612345678' });
  const code = await started.codeFor(NUMBER, 'bank');
  await started.send({ service: 'bank', number: NUMBER });
  const verify = (otp: string, number = NUMBER) => started.verify({ service: 'bank', number, otp });
  await verify(code);
  await verify(code);
  const second = await started.codeFor(OTHER, 'bank');
  await verify(wrongFor(second), OTHER);
  expect((await verify(second, OTHER)).status).toBe(429);

  await eventually(() => heard.some(({ type }) => type === 'balance.low'), Boolean, { clock: started.clock });
  const logged = async () => (await loggedEvents(get(EventLog), accountId)).filter(({ type }) => TYPES.includes(type));
  // Work that changes no state is stored in the background.
  await eventually(async () => (await logged()).length >= heard.length);
  expect(sorted(await logged())).toEqual(sorted(heard));
  const count = (type: string) => heard.filter((event) => event.type === type).length;
  expect(Object.fromEntries(TYPES.map((type) => [type, count(type)]))).toMatchObject({
    'balance.topped_up': 2,
    'balance.adjusted': 1,
    'balance.low': 1,
    'key.created': 2,
    'key.rotated': 1,
    'key.revoked': 1,
    'signature.verified': 1,
    'signature.rejected': 1,
    'optout.added': 2,
    'optout.removed': 1,
    'otp.verified': 1,
    'otp.locked': 1,
    'otp.refused': 2,
  });
  const said = JSON.stringify(heard);
  for (const secret of [...started.codes, PEPPER, issued.key, rotated.key, ...secretsOf(issued.key, rotated.key)]) {
    expect(said).not.toContain(`"${secret}"`);
    if (secret.length > 8) expect(said).not.toContain(secret);
  }
});

/** The secret parts of keys. */
function secretsOf(...keys: readonly string[]): readonly string[] {
  return keys.map((key) => key.split('_')[2] ?? key);
}
