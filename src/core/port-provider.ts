import type {
  Abstract,
  DynamicModule,
  InjectionToken,
  ModuleMetadata,
  OptionalFactoryDependency,
  Provider,
  Type,
} from '@nestjs/common';
import { MessagingOptionsError } from '../common/errors.js';
import { invokeFactory } from './invoke-factory.js';

/** How a host puts something of its own in the place of a port: a class, a value, a factory, or a module that exports it. */
export type PortSource<T extends object> =
  | Type<T>
  | { readonly useValue: T }
  | {
      readonly imports?: ModuleMetadata['imports'];
      readonly inject?: (InjectionToken | OptionalFactoryDependency)[];
      readonly useFactory: (...injected: never[]) => T | Promise<T>;
    }
  | DynamicModule;

/** What a module needs so that `token` is what the source says. */
export interface PortParts {
  readonly imports: NonNullable<ModuleMetadata['imports']>;
  readonly providers: Provider[];
  /** What passes the port on: the token, or the module that has it (Nest exports no token that comes from elsewhere). */
  readonly exports: NonNullable<ModuleMetadata['exports']>;
}

/** @throws MessagingOptionsError naming the option when the source is none */
export function providePort<T extends object>(option: string, token: Abstract<T>, source: PortSource<T>): PortParts {
  if (typeof source === 'function' && source.prototype !== undefined) {
    // A module's class stands for the module, as it does among imports.
    if (isModule(source)) return { imports: [source], providers: [], exports: [source] };
    return { imports: [], providers: [{ provide: token, useClass: source }], exports: [token] };
  }
  if (typeof source === 'object' && source !== null) {
    if ('module' in source) return { imports: [source], providers: [], exports: [source] };
    if ('useValue' in source) {
      const useValue = portOf(option, token, source.useValue);
      return { imports: [], providers: [{ provide: token, useValue }], exports: [token] };
    }
    if ('useFactory' in source && typeof source.useFactory === 'function') {
      const { useFactory, inject = [], imports = [] } = source;
      const checked = async (...injected: unknown[]): Promise<T> =>
        portOf(option, token, await invokeFactory(useFactory, injected));
      return { imports, providers: [{ provide: token, useFactory: checked, inject }], exports: [token] };
    }
  }
  throw new MessagingOptionsError(
    `Option ${option} must be a class, { useValue }, { useFactory, inject } or a module that exports ${token.name}.`,
  );
}

function isModule(source: object): boolean {
  return ['imports', 'providers', 'exports'].some((part) => Reflect.hasMetadata(part, source));
}

/** What is no object at all would only be noticed when it is first used. */
function portOf<T extends object>(option: string, token: Abstract<T>, port: T): T {
  if (typeof port === 'object' && port !== null) return port;
  throw new MessagingOptionsError(`Option ${option} must give a ${token.name}; got ${String(port)}.`);
}
