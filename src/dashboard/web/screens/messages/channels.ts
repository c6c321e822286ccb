import { me } from '../../core/session.js';
import { t } from './message-texts.js';

/** Returns the channels of this service. */
export function channelsOf(): readonly string[] {
  const { sms = false, msgapp = [] } = me.value?.capabilities ?? {};
  return [...(sms ? ['sms'] : []), ...msgapp];
}

export function channelName(channel: string): string {
  return channel === 'sms' ? t('sms') : channel;
}
