package org.example.docs.walk;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.Type;

/**
 * Loads the library so that each of its types, once per walk, says when code of it first runs. The application that
 * uses it must be loaded by this loader, too.
 */
public final class WalkedClasses extends ClassLoader {

    private static final String LIBRARY = "io.github.lockboot.";
    private static final String FIXTURE = LIBRARY + "fixture.";

    private static final Set<String> passed = new LinkedHashSet<>();
    private static boolean walking;

    private final String application;

    /** @param application the prefix of the names of classes that use the library */
    WalkedClasses(ClassLoader parent, String application) {
        super(parent);
        this.application = application;
    }

    /** Begins a walk. */
    public static synchronized void begin() {
        passed.clear();
        walking = true;
    }

    /** {@return the simple names of the top-level types passed since the beginning, in order} */
    public static synchronized List<String> end() {
        walking = false;
        return new ArrayList<>(passed);
    }

    /** Called by the code of the library. */
    public static synchronized void pass(String type) {
        if (walking) {
            passed.add(type);
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean library = name.startsWith(LIBRARY) && !name.startsWith(FIXTURE);
        if (!library && !name.startsWith(application)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name, library);
        }
    }

    private Class<?> define(String name, boolean library) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (in == null) {
                throw new ClassNotFoundException(name);
            }
            byte[] code = library ? telling(in.readAllBytes(), topLevelOf(name)) : in.readAllBytes();
            return defineClass(name, code, 0, code.length);
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private static String topLevelOf(String name) {
        String simple = name.substring(name.lastIndexOf('.') + 1);
        int nested = simple.indexOf('$');
        return nested < 0 ? simple : simple.substring(0, nested);
    }

    /** Each method begins with a call of {@link #pass}. */
    private static byte[] telling(byte[] code, String type) {
        ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
        new ClassReader(code)
                .accept(
                        new ClassVisitor(Opcodes.ASM9, writer) {

                            @Override
                            public MethodVisitor visitMethod(
                                    int access, String name, String descriptor, String signature, String[] exceptions) {
                                MethodVisitor method =
                                        super.visitMethod(access, name, descriptor, signature, exceptions);
                                return name.equals("<clinit>") ? method : new Telling(method, type);
                            }
                        },
                        0);
        return writer.toByteArray();
    }

    private static final class Telling extends MethodVisitor {

        private final String type;

        Telling(MethodVisitor method, String type) {
            super(Opcodes.ASM9, method);
            this.type = type;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            visitLdcInsn(type);
            visitMethodInsn(
                    Opcodes.INVOKESTATIC,
                    Type.getInternalName(WalkedClasses.class),
                    "pass",
                    "(Ljava/lang/String;)V",
                    false);
        }
    }
}
