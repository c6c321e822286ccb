import { SandboxMsgappTransport } from 'nestjs-messaging';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';

/** Returns the transport of the messaging-app channel. Baileys itself is loaded only when its transport starts. */
export function msgappTransport(name: 'sandbox' | 'baileys') {
  return name === 'baileys' ? BaileysMsgappTransport.forRoot() : SandboxMsgappTransport;
}
