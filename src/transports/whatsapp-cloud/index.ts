export { WhatsappCloudMsgappTransport, type WhatsappCloudSource } from './cloud-msgapp-transport.js';
export type { WhatsappCloudOptions } from './cloud-options.js';
