import { SandboxMsgappTransport } from 'nestjs-messaging';
import { BaileysMsgappTransport } from 'nestjs-messaging/baileys';

/** What carries messages of the messaging-app channel. Baileys itself is loaded when its transport starts, not before. */
export function msgappTransport(name: 'sandbox' | 'baileys') {
  return name === 'baileys' ? BaileysMsgappTransport.forRoot() : SandboxMsgappTransport;
}
