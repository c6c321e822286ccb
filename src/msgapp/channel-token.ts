import type { Abstract } from '@nestjs/common';

/**
 * Returns the injection token of a service of one messaging-app channel, for hosts that mount several:
 * `@Inject(channelToken(MsgappService, 'support'))`, `app.get(channelToken(MsgappService, 'support'))`.
 */
export function channelToken(service: Abstract<object>, channel: string): string {
  return `${service.name} of ${channel}`;
}
