/** The library in Spring Boot: beans, properties and failure analysis. */
@NullMarked
package io.github.lockboot.autoconfigure;

import org.jspecify.annotations.NullMarked;
