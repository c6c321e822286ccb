import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { describeMessaging } from '../../../src/openapi/describe-messaging.js';

/** The document of an application, made as a host's `main.ts` makes it. */
export function documentOf(app: INestApplication, openapi = '3.0.0'): OpenAPIObject {
  const config = new DocumentBuilder().setTitle('Host').setOpenAPIVersion(openapi).build();
  return describeMessaging(app, SwaggerModule.createDocument(app, config));
}

/** Serves it at `/docs-json`. Call it before the application listens. The page is made by `servePage`. */
export function serveDocument(app: INestApplication): void {
  SwaggerModule.setup('docs', app, () => documentOf(app), { ui: false });
}
