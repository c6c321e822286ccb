import { Logger } from '@nestjs/common';
import { MessagingEvents } from '../../src/events/messaging-events.js';

// Run as a program: a listener's promise is rejected, and the process goes on all the same.
Logger.overrideLogger(false);
const events = new MessagingEvents();
events.on('sms.inbound', async () => {
  throw new Error('The host has a mistake.');
});
events.emit('sms.inbound', { route: 'link', from: '22670000001', to: '4400', text: 'Bonjour' });
// What nobody catches ends a process before the next turn of its loop.
setImmediate(() => console.log(JSON.stringify('alive')));
