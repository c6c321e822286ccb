/**
 * Jest's environment for Node without a global object for each test file, because `runtime.mjs` loads packages once for
 * all files of a worker. Changes that a file makes to the globals, the environment variables and Nest's logger are
 * undone after it.
 *
 * No process outlives its file: a test or hook that times out does not reach the line that ends what it started.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ModernFakeTimers } from '@jest/fake-timers';
import { Logger } from '@nestjs/common';
import { ModuleMocker } from 'jest-mock';
import { memoryFolder } from './memory-folder.mjs';

const folder = process.env.TMPDIR === undefined ? memoryFolder() : undefined;
if (folder !== undefined) process.env.TMPDIR = folder;

/**
 * The properties that a test file has used. While one is in use, each promise of the process takes several times as
 * long.
 */
const contexts = new Set();
for (const name of ['run', 'enterWith']) {
  const begin = AsyncLocalStorage.prototype[name];
  AsyncLocalStorage.prototype[name] = function (...given) {
    contexts.add(this);
    return begin.apply(this, given);
  };
}

export default class Environment {
  fakeTimers = null;
  global = globalThis;
  children = new Set();

  constructor({ projectConfig }) {
    this.moduleMocker = new ModuleMocker(globalThis);
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
    const { staticInstanceRef, logLevels } = Logger;
    this.before = {
      globals: Object.getOwnPropertyDescriptors(globalThis),
      exit: process.exit,
      env: { ...process.env },
      logger: { staticInstanceRef, logLevels },
      spawn: ChildProcess.prototype.spawn,
    };
    const { children } = this;
    const { spawn } = this.before;
    ChildProcess.prototype.spawn = function (...options) {
      children.add(this);
      this.once('exit', () => children.delete(this));
      return spawn.apply(this, options);
    };
  }

  async setup() {
    // Jest asks for 100 lines of the stack of each error, including the thousands of errors that tests expect.
    Error.stackTraceLimit = 25;
  }

  async teardown() {
    const { globals, exit, env, logger, spawn } = this.before;
    ChildProcess.prototype.spawn = spawn;
    for (const child of this.children) {
      const gone = once(child, 'exit');
      if (child.kill('SIGKILL')) await gone;
    }
    this.fakeTimersModern.dispose();
    for (const context of contexts) context.disable();
    contexts.clear();
    restoreGlobals(globals);
    process.exit = exit;
    for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
    Object.assign(process.env, env);
    Object.assign(Logger, logger);
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }
}

/**
 * Restores what a test file has replaced. Additions stay, because packages keep their state there.
 * @param before descriptors of all properties of the global object
 */
function restoreGlobals(before) {
  const now = Object.getOwnPropertyDescriptors(globalThis);
  for (const name of Reflect.ownKeys(before)) {
    if (now[name]?.value !== before[name].value) Reflect.defineProperty(globalThis, name, before[name]);
  }
}
