import { lacking, type PartRunner } from '../../test-runner.js';
import type { StorageFixture } from '../storage-fixture.js';
import type { StoragePart } from '../storage-harness.js';
import { CAMPAIGN_RACES } from './campaigns.js';
import { CANCEL_RACES } from './cancels.js';
import { CODE_RACES } from './codes.js';
import { CONTACT_RACES } from './contacts.js';
import { DELIVERY_RACES } from './deliveries.js';
import { ENDPOINT_RACES } from './endpoints.js';
import { EVENT_RACES } from './events.js';
import { FREE_PLACE_RACES } from './free-places.js';
import { KEY_CAP_RACES } from './key-caps.js';
import { MONEY_RACES } from './money.js';
import { OPT_OUT_RACES } from './opt-outs.js';
import { PART_RACES } from './parts.js';
import { RECEIVED_TEXT_RACES } from './received-texts.js';
import { RECORD_RACES } from './records.js';
import { RESCHEDULE_RACES } from './reschedules.js';
import { ROUTE_RECIPIENT_RACES } from './route-recipients.js';
import { SESSION_RACES } from './sessions.js';
import { USAGE_RACES } from './usage.js';
import { USER_SESSION_RACES } from './user-sessions.js';

const RACES = {
  ...MONEY_RACES,
  ...KEY_CAP_RACES,
  ...DELIVERY_RACES,
  ...CANCEL_RACES,
  ...RESCHEDULE_RACES,
  ...RECORD_RACES,
  ...CODE_RACES,
  ...PART_RACES,
  ...OPT_OUT_RACES,
  ...ROUTE_RECIPIENT_RACES,
  ...FREE_PLACE_RACES,
  ...CONTACT_RACES,
  ...RECEIVED_TEXT_RACES,
  ...SESSION_RACES,
  ...ENDPOINT_RACES,
  ...CAMPAIGN_RACES,
  ...USER_SESSION_RACES,
  ...EVENT_RACES,
  ...USAGE_RACES,
};

export function raceTests({ describe, test, testWith }: PartRunner<StoragePart>, world: StorageFixture): void {
  for (const [name, race] of Object.entries(RACES)) test(name, () => race(world, () => world.storage));

  describe('across two instances', () => {
    for (const [name, race] of Object.entries(RACES)) {
      testWith('another', `${name} (where the harness has another)`, async () => {
        const other = await world.harness.another?.();
        if (!other) throw lacking('another');
        await race(world, (index) => (index % 2 === 0 ? world.storage : other));
      });
    }
  });
}
