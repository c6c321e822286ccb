import { Logger } from '@nestjs/common';
import { MessagingEvents } from '../../../src/events/messaging-events.js';

// Run as a program: a listener's promise is rejected, and the process goes on all the same.
Logger.overrideLogger(false);
const events = new MessagingEvents();
events.on('sms.received', async () => {
  throw new Error('The host has a mistake.');
});
const at = '2026-11-22T10:00:00.000Z';
const data = { id: 'text', from: '22670000001', to: '4400', text: 'Bonjour', truncated: false, received_at: at };
events.emit('sms.received', { type: 'sms.received', timestamp: at, account: '*', data });
// What nobody catches ends a process before the next turn of its loop.
setImmediate(() => console.log(JSON.stringify('alive')));
