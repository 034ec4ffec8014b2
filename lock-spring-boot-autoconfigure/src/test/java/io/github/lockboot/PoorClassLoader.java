package io.github.lockboot;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;

/** Has some classes of this library anew, which do not see some others: those are not on their class path. */
public final class PoorClassLoader extends ClassLoader {

    private final String anew;
    private final List<String> absent;

    /**
     * @param anew how the names of the classes begin that are loaded anew
     * @param absent how the names of those begin that are not there
     */
    public PoorClassLoader(String anew, String... absent) {
        super(PoorClassLoader.class.getClassLoader());
        this.anew = anew;
        this.absent = List.of(absent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (absent.stream().anyMatch(name::startsWith)) {
            throw new ClassNotFoundException(name);
        }
        if (!name.startsWith(anew)) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            Class<?> known = findLoadedClass(name);
            return known != null ? known : define(name);
        }
    }

    private Class<?> define(String name) throws ClassNotFoundException {
        try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            byte[] bytes = in.readAllBytes();
            return defineClass(name, bytes, 0, bytes.length);
        } catch (IOException failure) {
            throw new ClassNotFoundException(name, failure);
        }
    }
}
