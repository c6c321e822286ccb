import { expect, jest, test } from '@jest/globals';
import { MessagingOptionsError } from '../../../../src/common/errors.js';
import { loadBaileys } from '../../../../src/transports/baileys/baileys-library.js';

function missing(name: string): Error {
  const error = new Error(`Cannot find package '${name}' imported from /app/node_modules/nestjs-messaging/dist/x.js`);
  return Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
}

test('if the peer is missing, the start says what to install', async () => {
  const loading = loadBaileys(() => Promise.reject(missing('baileys')));
  await expect(loading).rejects.toThrow(MessagingOptionsError);
  await expect(loading).rejects.toThrow('npm install --save-exact baileys@7.0.0-rc14');
});

test('if an installed peer is broken, its error is shown unchanged', async () => {
  await expect(loadBaileys(() => Promise.reject(missing('ws')))).rejects.toThrow("Cannot find package 'ws'");
});

test('the entry does not load Baileys before a transport starts', async () => {
  const loaded = jest.fn();
  const library = await import('baileys');
  jest.unstable_mockModule('baileys', () => {
    loaded();
    return { ...library };
  });
  jest.resetModules();
  const { BaileysMsgappTransport } = await import('nestjs-messaging/baileys');
  const { useFactory } = BaileysMsgappTransport.forRoot();
  const transport = useFactory();
  expect(loaded).not.toHaveBeenCalled();
  await transport.start();
  expect(loaded).toHaveBeenCalledTimes(1);
  await transport.stop();
});
