import { any, type Option } from '../../common/options.js';
import { knowsZones } from './country-zones.js';
import { windowOf } from './read-window.js';
import { type DeliveryWindow, RECIPIENT_ZONE } from './window.api.js';

/** Reads a window as an option. */
export const windowOption: Option<DeliveryWindow> = any((given, place) => {
  const window = windowOf(given);
  if (window === undefined) {
    return place.refuse(
      'must be a window such as { from: "08:00", to: "20:00", days: [1, 2, 3, 4, 5], zone: "recipient" }: times as HH:MM that are not equal, ISO weekdays from 1 to 7 each at most once, and "recipient" or the name of an IANA time zone',
    );
  }
  if (window.zone === RECIPIENT_ZONE && !knowsZones()) {
    return place.refuse(
      'has the zone "recipient", and this Node does not know the time zones of countries: run a Node with full ICU, or name a zone such as "Africa/Ouagadougou"',
    );
  }
  return window;
});
