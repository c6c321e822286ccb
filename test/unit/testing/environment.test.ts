import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from '@jest/globals';
import Environment from '../../support/jest/environment.mjs';

/** An environment as Jest makes one for a file, with the settings that it reads. */
function environment(): Environment {
  const projectConfig = { globals: {}, testEnvironmentOptions: {}, fakeTimers: {} };
  return new Environment({ globalConfig: {}, projectConfig }, {});
}

test('a process that a file leaves behind is ended with the file', async () => {
  const file = environment();
  await file.setup();
  const left = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => 1); setInterval(() => 1, 1000)']);
  const over = spawn(process.execPath, ['-e', '']);
  await once(over, 'exit');
  expect(left.exitCode).toBeNull();
  await file.teardown();
  expect([left.signalCode, over.signalCode, over.exitCode]).toEqual(['SIGKILL', null, 0]);
});
