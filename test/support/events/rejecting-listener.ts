import { Logger } from '@nestjs/common';
import { MessagingEvents } from '../../../src/events/messaging-events.js';

// Run as a program: the promise of a listener rejects, and the process still goes on.
Logger.overrideLogger(false);
const events = new MessagingEvents();
events.on('sms.received', async () => {
  throw new Error('The host has a mistake.');
});
const at = '2026-11-22T10:00:00.000Z';
const data = { id: 'text', from: '22670000001', to: '4400', text: 'Bonjour', truncated: false, received_at: at };
events.emit('sms.received', { type: 'sms.received', timestamp: at, account: '*', data });
// An unhandled rejection ends a process before the next turn of its event loop.
setImmediate(() => console.log(JSON.stringify('alive')));
