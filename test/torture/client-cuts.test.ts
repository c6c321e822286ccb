import { expect, test } from '@jest/globals';
import { sendOverCuts } from '../support/client/cut-sends.js';
import { byForm, note } from './form.js';

const SENDS = byForm(1_000, 10_000);

test(`${SENDS} sends by the client over a line that is cut are charged ${SENDS} times`, async () => {
  const { cuts, ...sends } = await sendOverCuts(SENDS);
  note('client', { sends: SENDS, cuts });
  expect(sends).toEqual({ answered: SENDS, stored: SENDS, charged: SENDS, faults: [] });
}, 600_000);
