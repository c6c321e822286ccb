import { MessagingError } from '../common/errors.js';
import { type EventType, isEventType } from '../events/event-types.js';

/**
 * Returns the types with these names. Undefined: all types, because a name is `*`.
 * @throws MessagingError `error.event_type_unknown`, which names the first unknown type. `error.field_invalid` if there is no
 * name
 */
export function eventTypesOf(names: readonly string[]): readonly EventType[] | undefined {
  if (names.length === 0) throw new MessagingError('error.field_invalid', { field: 'types' });
  const types = new Set<EventType>();
  for (const name of names) {
    if (isEventType(name)) types.add(name);
    else if (name !== '*') throw new MessagingError('error.event_type_unknown', { type: name.slice(0, 64) });
  }
  return names.includes('*') ? undefined : [...types];
}
