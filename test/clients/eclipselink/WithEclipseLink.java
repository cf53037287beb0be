// EclipseLink over JDBC: keys of the strategy SEQUENCE, of which it takes 50 at once and counts them down; and in the step
// "ask" those of the strategy IDENTITY, for which it asks for lastval.
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.persistence.Entity;
import javax.persistence.EntityManager;
import javax.persistence.GeneratedValue;
import javax.persistence.GenerationType;
import javax.persistence.Id;
import javax.persistence.ManyToOne;
import javax.persistence.Persistence;
import javax.persistence.SequenceGenerator;
import javax.persistence.Table;

public class WithEclipseLink {
    @Entity(name = "Customer")
    @Table(name = "customers")
    @SequenceGenerator(name = "customers", sequenceName = "customers_id_seq", allocationSize = 50)
    public static class Customer {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "customers")
        public Long id;
        public String name;
    }

    @Entity(name = "Order")
    @Table(name = "orders")
    @SequenceGenerator(name = "orders", sequenceName = "orders_id_seq", allocationSize = 50)
    public static class Order {
        @Id
        @GeneratedValue(strategy = GenerationType.SEQUENCE, generator = "orders")
        public Long id;
        @ManyToOne
        public Customer customer;
    }

    @Entity(name = "Note")
    @Table(name = "notes")
    public static class Note {
        @Id
        @GeneratedValue(strategy = GenerationType.IDENTITY)
        public Long id;
        public String note;
    }

    static void ask(EntityManager manager) {
        manager.getTransaction().begin();
        for (int i = 0; i < 10; ++i) {
            Note note = new Note();
            note.note = "told";
            manager.persist(note);
            manager.flush();
            Object greatest = manager.createQuery("SELECT MAX(n.id) FROM Note n").getSingleResult();
            if (note.id < 1000 || !note.id.equals(greatest)) throw new IllegalStateException(note.id + " is not " + greatest);
        }
        manager.getTransaction().commit();
    }

    static void use(EntityManager manager) {
        Set<Long> keys = new HashSet<>();
        manager.getTransaction().begin();
        for (int i = 0; i < 120; ++i) {
            Customer customer = new Customer();
            customer.name = "many";
            manager.persist(customer);
            Order order = new Order();
            order.customer = customer;
            manager.persist(order);
            keys.add(customer.id);
        }
        manager.getTransaction().commit();
        manager.clear();
        if (keys.size() != 120) throw new IllegalStateException("repeated keys");
        for (Long key : keys) {
            List<?> orders = manager.createQuery("SELECT o FROM Order o WHERE o.customer.id = :id").setParameter("id", key).getResultList();
            if (orders.size() != 1) throw new IllegalStateException("orders of " + key + ": " + orders.size());
        }
        System.out.println("key: " + keys.iterator().next().getClass().getSimpleName());
    }

    public static void main(String[] arguments) {
        Map<String, String> properties = new HashMap<>();
        properties.put("javax.persistence.jdbc.url", "jdbc:postgresql://127.0.0.1:" + System.getenv("PGPORT") + "/" + System.getenv("PGDATABASE"));
        properties.put("javax.persistence.jdbc.user", System.getenv("PGUSER"));
        properties.put("javax.persistence.jdbc.driver", "org.postgresql.Driver");
        properties.put("eclipselink.logging.level", "WARNING");
        if (arguments[0].equals("create")) properties.put("eclipselink.ddl-generation", "create-tables");
        EntityManager manager = Persistence.createEntityManagerFactory("shop", properties).createEntityManager();
        manager.createNativeQuery("SELECT 1").getResultList();
        if (arguments[0].equals("use")) use(manager);
        if (arguments[0].equals("ask")) ask(manager);
        manager.getEntityManagerFactory().close();
    }
}
