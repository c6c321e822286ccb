import { afterEach, describe, expect, jest, test } from '@jest/globals';
import { OptionPlace } from '../../../../src/common/options.js';
import { windowOption } from '../../../../src/outbox/windows/window-option.js';

const place = new OptionPlace('sms.windows.bulk');
const WINDOW = { from: '08:00', to: '20:00' };

afterEach(() => {
  jest.restoreAllMocks();
});

test('a Node that does not know the zones of countries refuses the recipient’s zone, and no named one', () => {
  jest.spyOn(Intl, 'Locale').mockImplementation(() => ({}) as Intl.Locale);
  expect(() => windowOption.read(WINDOW, place)).toThrow(
    'Option sms.windows.bulk has the zone "recipient", and this Node does not know the time zones of countries: run a Node with full ICU, or name a zone such as "Africa/Ouagadougou".',
  );
  expect(windowOption.read({ ...WINDOW, zone: 'UTC' }, place)).toMatchObject({ zone: 'UTC' });
});

describe('a window as an option', () => {
  test('has its defaults filled in', () => {
    const zone = 'Africa/Ouagadougou';
    expect(windowOption.read({ ...WINDOW, zone }, place)).toEqual({ ...WINDOW, days: [1, 2, 3, 4, 5, 6, 7], zone });
  });

  test('is refused with its name', () => {
    expect(() => windowOption.read({ from: '08:00' }, place)).toThrow(
      'Option sms.windows.bulk must be a window such as { from: "08:00", to: "20:00", days: [1, 2, 3, 4, 5], zone: "recipient" }',
    );
  });
});
