/**
 * Jest's runtime with three differences. The first two are there because most of this suite's processor time went into
 * loading the same modules for each test file:
 *
 * - Packages, Jest's own among them, are loaded by Node, once in each worker.
 * - The modules of `src` and `test/contract` are compiled and linked once in each worker. They keep no state between
 * applications, so a test file
 * cannot see what another one did.
 * - Jest gets a {@link SerialContext} in place of an `AsyncLocalStorage`.
 *
 * Other files of `test` are loaded for each file. A file that mocks or resets modules gets modules of `src` of its own.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import vm from 'node:vm';
import Runtime from 'jest-runtime';
import { SerialContext } from './serial-context.mjs';

// Most of the code that a suite runs, it runs a few times. Optimising code that was seldom run again took a tenth of
// the processor time and more. V8 of Node 22 has no such flag.
if (process.versions.v8.startsWith('11.')) setFlagsFromString('--interrupt-budget=500000');

const require = createRequire(import.meta.url);
const asyncHooks = require('node:async_hooks');

/** Modules that replace packages' files, by path. */
const packages = new Map();
/** Evaluated modules of `src` and `test/contract` by URL, for each project, as projects may resolve the same name differently. */
const sources = new Map();
/** Where the source maps of all files are, for the stacks of errors. */
const sourceMaps = new Map();
/**
 * The runtime of the test file that runs. Through it, modules of `src` that an earlier runtime has loaded import
 * dynamically.
 */
let current;

/** Whether a real `AsyncLocalStorage` makes Node call hooks for each promise: up to Node 22. */
const HOOKS_PROMISES = Number.parseInt(process.versions.node, 10) < 24;

const REPLACEMENT = { value: SerialContext, configurable: true, writable: true };

export default class extends Runtime {
  constructor(config, ...rest) {
    super(config, ...rest);
    current = this;
    const { watch, watchAll } = rest.at(-1);
    // A run in watch mode may use the process of the previous run, when `src` was different.
    this.isShared = !watch && !watchAll;
    this.sources = sources.get(config.id) ?? new Map();
    sources.set(config.id, this.sources);
    for (const [url, module] of this.sources) this.registries.esModuleRegistry.set(url, module);
    this.transformCache.sourceMaps = sourceMaps;
    // Since Node 22.21 Jest prefers a synchronous way of loading, unless the resolver has an asynchronous one.
    this._resolution.hasDistinctAsyncResolver = () => true;
    const { esmLoader } = this;
    const { dynamicImport, loadCjsAsEsm, loadEsmModule } = esmLoader;
    this.importDynamically = dynamicImport;
    esmLoader.dynamicImport = (...request) => current.importDynamically(...request);
    // The context of Node itself, so that errors and results of packages are of the classes that tests know.
    esmLoader.getContext = () => undefined;
    esmLoader.loadEsmModule = (path, suffix) =>
      isPackage(path) ? packageModule(path) : loadEsmModule.call(esmLoader, path, suffix);
    esmLoader.loadCjsAsEsm = (from, path, ...others) =>
      isPackage(path) ? packageModule(path) : loadCjsAsEsm.call(esmLoader, from, path, ...others);
  }

  requireInternalModule(from, to) {
    if (to !== undefined) return createRequire(from)(to);
    // The test framework itself, whose state belongs to one test file.
    delete require.cache[from];
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
    if (!HOOKS_PROMISES) return require(from);
    // Only while Jest's own modules load. Some versions of Node export it by a getter, which cannot be assigned to.
    const exported = Object.getOwnPropertyDescriptor(asyncHooks, 'AsyncLocalStorage');
    Object.defineProperty(asyncHooks, 'AsyncLocalStorage', { ...REPLACEMENT, enumerable: exported.enumerable });
    try {
      return require(from);
    } finally {
      Object.defineProperty(asyncHooks, 'AsyncLocalStorage', exported);
    }
  }

  requireModule(from, name) {
    return createRequire(from)(name);
  }

  requireModuleOrMock(from, name) {
    return createRequire(from)(name);
  }

  setModuleMock(...mock) {
    this.isShared = false;
    super.setModuleMock(...mock);
  }

  resetModules() {
    this.isShared = false;
    super.resetModules();
  }

  teardown() {
    if (this.isShared) {
      const folders = ['src', 'test/contract'].map((name) => `${pathToFileURL(this._config.rootDir)}/${name}/`);
      for (const [url, module] of this.registries.esModuleRegistry) {
        const isOurs = folders.some((folder) => url.startsWith(folder));
        if (isOurs && module.status === 'evaluated') this.sources.set(url, module);
      }
    }
    super.teardown();
  }
}

/** Not Baileys: our transport changes it permanently, and some tests need it unchanged. */
function isPackage(path) {
  return path.includes('/node_modules/') && !path.includes('/node_modules/baileys/') && !path.endsWith('.json');
}

function packageModule(path) {
  const loading = packages.get(path) ?? loadPackage(path);
  packages.set(path, loading);
  return loading;
}

async function loadPackage(path) {
  const namespace = await import(pathToFileURL(path));
  const module = new vm.SyntheticModule(
    Object.keys(namespace),
    () => {
      for (const [name, value] of Object.entries(namespace)) module.setExport(name, value);
    },
    { identifier: path },
  );
  await module.link(() => undefined);
  await module.evaluate();
  return module;
}
