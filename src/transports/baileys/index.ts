export { BaileysMsgappTransport, type BaileysSource } from './baileys-msgapp-transport.js';
export type { BaileysOptions } from './baileys-options.js';
