import { chosenAccount } from './router.js';
import { SCREENS, type ScreenEntry } from './screens.js';
import { can, me } from './session.js';

/** Whether the user may see a screen, and the service has what it shows. */
export function isVisible({ permission, capability, group }: ScreenEntry): boolean {
  const who = me.value;
  if (!who || !can(permission)) return false;
  if (group !== 'operator' && who.account === null && chosenAccount() === undefined) return false;
  if (capability === undefined) return true;
  const has = who.capabilities[capability];
  return typeof has === 'boolean' ? has : has.length > 0;
}

/** The screen that an empty address means. */
export function firstPath(): string {
  return SCREENS.find(isVisible)?.path ?? 'overview';
}
