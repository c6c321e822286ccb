import { expect, test } from '@jest/globals';
import { AccountService } from '../../../src/accounts/account-service.js';
import type { AuditPage } from '../../../src/accounts/audit/audit.api.js';
import { EventLog } from '../../../src/events/event-log.js';
import { EventService } from '../../../src/webhooks/feed/event-service.js';
import { eventually } from '../../support/common/eventually.js';
import { EventReader } from '../../support/events/event-reader.js';
import type { Details, List } from '../../support/http/api-client.js';
import { describeOnOneAdapter } from '../../support/http/http-apps.js';
import { asUser, startManage } from '../../support/management/manage-app.js';
import { clientOf, unmountAfterEach } from '../../support/mounting/mounted.js';
import { MSGAPP } from '../../support/msgapp/msgapp-app.js';
import { WEBHOOK_PEPPER } from '../../support/webhooks/webhook-app.js';

unmountAfterEach();

const [NUMBER, MASKED] = ['22670000001', '226******01'];
const HIDDEN = '••• (9)';

describeOnOneAdapter('texts shown to operators', (adapter) => {
  test('are shown to an operator who reads one message, which is audited; other roles and listings see them masked', async () => {
    const world = await startManage(adapter);
    const { operator, support, finance, as } = world;
    const client = await clientOf(world);
    const { smsID } = await client.sent({ signature: 'INFOS', content: 'Secret 😀!', number: [NUMBER] });
    const own = as({ accountId: client.accountId, subject: 'ada', role: 'viewer' });
    const account = `account=${client.accountId}`;
    const reads = async () => {
      const { items } = await support.read<AuditPage>('manage/audit?action=text.read');
      return items.map(({ by, target, account: of }) => [by.id, target, of]);
    };
    for (const each of [support, finance]) {
      expect(await each.read<Details>(`sms/${smsID}?${account}`)).toMatchObject({
        content: HIDDEN,
        number: [MASKED],
        recipients: [{ number: MASKED }],
        sms_units: 1,
      });
    }
    for (const each of [support, finance, operator]) {
      expect(await each.read<List>(`sms?${account}`)).toMatchObject({ items: [{ content: HIDDEN, number: [MASKED] }] });
      expect(await each.read(`sms/${smsID}/recipients?${account}`)).toMatchObject({ items: [{ number: MASKED }] });
    }
    expect(await reads()).toEqual([]);
    const whole = { content: 'Secret 😀!', number: [NUMBER], recipients: [{ number: NUMBER }] };
    expect(await operator.read(`sms/${smsID}?${account}`)).toMatchObject(whole);
    expect(await reads()).toEqual([['odile', smsID, client.accountId]]);
    // The account's own texts are neither masked nor audited.
    expect(await own.read(`sms/${smsID}`)).toMatchObject(whole);
    expect(await own.read(`sms`)).toMatchObject({ items: [{ content: 'Secret 😀!' }] });
    expect((await operator.call(`sms/none?${account}`)).status).toBe(404);
    expect(await reads()).toHaveLength(1);
    expect((await operator.call(`sms/${smsID}`)).status).toBe(400);
  });

  test('events are masked for every operator, in the feed and on the stream', async () => {
    const world = await startManage(adapter, { webhooks: { pepper: WEBHOOK_PEPPER } });
    const { operator, clock, app, url } = world;
    const client = await clientOf(world);
    await app.get(EventService, { strict: false }).switchOn(client.accountId);
    await client.sent({ signature: 'INFOS', content: 'Secret', number: [NUMBER] });
    const path = `events?account=${client.accountId}&types=message.delivered&after=0`;
    const [event] = await eventually(
      async () => (await operator.read<{ items: { data: object }[] }>(path)).items,
      ({ length }) => length > 0,
      { clock },
    );
    expect(event?.data).toMatchObject({ number: MASKED });
    const stream = await EventReader.open(
      `${url}/api/v1/events/stream?account=${client.accountId}&after=0`,
      asUser({ subject: 'odile', role: 'operator' }),
    );
    const text = await eventually(
      () => stream.text,
      (each) => each.includes('message.delivered'),
    );
    stream.leave();
    expect(text).toContain(MASKED);
    expect(text).not.toContain(NUMBER);
  });

  test('events of an account that does not exist are a 404, and nothing is recorded for it', async () => {
    const { support, app } = await startManage(adapter, { webhooks: { pepper: WEBHOOK_PEPPER } });
    for (const path of ['events', 'events/stream']) {
      for (const account of ['none', '%00']) {
        const { status, body } = await support.call(`${path}?account=${account}`);
        expect([path, account, status, body]).toMatchObject([path, account, 404, { message: 'Compte introuvable' }]);
      }
    }
    expect(await app.get(EventLog, { strict: false }).state('none')).toMatchObject({ recording: false });
  });

  test('opt-outs and linked numbers are masked for every operator, but not for the account', async () => {
    const { support, finance, operator, as, app, storage, clock } = await startManage(adapter, { msgapp: MSGAPP });
    const { id } = await app.get(AccountService, { strict: false }).createAccount({ name: 'Shop' });
    const own = as({ accountId: id, subject: 'ada', role: 'sender' });
    await own.done('optouts', { signature: 'INFOS', numbers: [NUMBER] });
    await operator.done('manage/optouts', { signature: 'INFOS', numbers: [NUMBER] });
    const session = `INSERT INTO messaging_session
      (id, account_id, channel, status, number, reason, created_at, connected_at, updated_at, steps, epoch)
      VALUES ('lost', ?, 'msgapp', 'banned', ?, 'banned', 1, 2, ?, 1, 1)`;
    storage.database.prepare(session).run(id, NUMBER, clock.now());
    const ofAccount = ['optouts', 'msgapp/web/status', 'overview'];
    for (const path of ofAccount) expect(JSON.stringify(await own.read(path))).toContain(`"${NUMBER}"`);
    const paths = [...ofAccount.map((path) => `${path}?account=${id}`), 'manage/sessions'];
    for (const each of [support, finance, operator]) {
      for (const path of paths) {
        if (each === finance && path === 'manage/sessions') continue;
        const shown = JSON.stringify(await each.read(path));
        expect([path, shown.includes(MASKED), shown.includes(NUMBER)]).toEqual([path, true, false]);
      }
    }
  });
});
